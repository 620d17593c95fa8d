"""seq-long-file, and steady typing for a while: nothing is lost, nothing piles up."""

from bench.editor_neovim import soak

CODE = "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n\n"


def test_twenty_keys_a_second_in_sixteen_thousand_lines(editor):
    editor.engine.say("ghost_text()\n")
    lines = [f"value_{number} = {number}" for number in range(16_000)]
    editor.open("\n".join([*lines[:8_000], "⟦|⟧", *lines[8_000:]]))
    editor.request("nvim_command", "setlocal noautoindent indentexpr= formatoptions= textwidth=0")
    editor.watch()
    editor.keys("A")
    editor.wait_ghost("ghost_text()")
    found = soak(editor, CODE, seconds=4, rate=20)
    assert found.missed == 0
    assert found.most_live == 1
    assert found.asked <= found.keys + 1
    assert found.shown > 0
    assert len(editor.lua("return require('foretype')._session().shelf.kept")) <= 6
    anchors = "return #vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('foretype.anchors'), 0, -1, {})"
    assert editor.lua(anchors) <= 6
