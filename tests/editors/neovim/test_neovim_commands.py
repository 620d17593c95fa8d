"""`:Foretype`, options, and what is switched on and off."""

import shutil

import pytest

from bench.neovim import PLUGIN


def test_switching_off_and_on(editor):
    editor.engine.say("1\n")
    editor.open("x =⟦|⟧")
    editor.keys("a ")
    editor.wait_ghost("1")
    editor.keys("<Cmd>Foretype toggle<CR>")
    editor.wait(lambda frame: not frame.ghost_text)
    assert editor.lua("return require('foretype').status()") == "foretype off"
    assert editor.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 0
    editor.keys("<Cmd>Foretype toggle<CR>")
    editor.wait_ghost("1")


@pytest.mark.parametrize("part", ["language", "folder"])
def test_a_language_or_a_folder_stays_off(editor, part):
    editor.open("x = 1")
    editor.request("nvim_command", f"Foretype disable {part}")
    assert part in editor.lua("return require('foretype').reason()")
    kept = editor.lua("return vim.fn.readfile(vim.fn.stdpath('state') .. '/foretype.json')")[0]
    assert f'"{"python" if part == "language" else ""}' in kept
    again = "return require('foretype.switches').load(require('foretype.config').defaults(), ...):reason(0)"
    file = editor.lua("return vim.fn.stdpath('state') .. '/foretype.json'")
    assert part in editor.lua(again, file)
    editor.request("nvim_command", f"Foretype enable {part}")
    assert editor.lua("return require('foretype').reason()") is None
    assert editor.lua(again, file) is None


def test_completion_of_the_command(editor):
    editor.open("")
    offered = editor.lua("return vim.fn.getcompletion('Foretype ', 'cmdline')")
    assert {"disable", "enable", "log", "pair", "restart", "start", "status", "stop", "toggle"} <= set(offered)
    assert editor.lua("return vim.fn.getcompletion('Foretype dis', 'cmdline')") == ["disable"]
    assert editor.lua("return vim.fn.getcompletion('Foretype disable ', 'cmdline')") == ["folder", "language"]


def test_status_in_words(editor):
    editor.open("x = 1")
    editor.lua("""
      require('foretype.status').set({ phase = 'loading', pair = 'embedded', detail = 'weights', fraction = 0.42 })
    """)
    assert editor.lua("return require('foretype').status()") == "foretype 42%"
    editor.lua("""
      require('foretype.status').set({ phase = 'ready', pair = 'embedded', detail = '', fraction = vim.NIL,
        warm_ttft_ms = 24.1, acceptance_today = 0.31 })
    """)
    info = editor.lua("return require('foretype').status_info()")
    assert info["warm_ttft_ms"] == 24.1
    assert editor.lua("return require('foretype.status').lines()")[1:4] == [
        "pair: embedded",
        "first token: 24 ms (median, warm)",
        "accepted today: 31 %",
    ]


def test_the_status_stands_in_a_window_of_its_own(editor):
    editor.open("x = 1")
    editor.request("nvim_command", "Foretype")
    frame = editor.wait(lambda frame: any("ok engine: foretype" in row for row in frame.rows))
    assert any("this buffer: suggestions on" in row for row in frame.rows)
    editor.keys("l")
    editor.wait(lambda frame: not any("ok engine" in row for row in frame.rows))


def test_a_statusline_is_drawn_again(editor):
    editor.open("x = 1")
    editor.request("nvim_command", "set laststatus=2 statusline=%{v:lua.require'foretype'.status()}")
    editor.lua("require('foretype.status').set({ phase = 'loading', fraction = 0.5 })")
    editor.wait(lambda frame: any("foretype 50%" in row for row in frame.rows))
    editor.lua("require('foretype.status').set({ phase = 'ready' })")
    editor.request("nvim_command", "set statusline&")


def test_options_that_make_no_sense_are_named(new_editor):
    editor = new_editor()
    problems = editor.lua("""
      local config, problems = require('foretype.config').read({
        stream = 'yes', debounce = 3, menu = 'always', keys = { accept = 1, jump = 'x', dismiss = false } })
      assert(config.stream == false and config.keys.accept == '<Tab>' and config.keys.dismiss == false)
      return problems
    """)
    assert problems == [
        "key accept must be a string or false",
        'option menu must be "selected", "visible" or "never"',
        "option stream must be a boolean",
        "there is no key jump",
        "there is no option debounce",
    ]


def test_the_help_has_every_option_and_every_command(editor, tmp_path):
    shutil.copytree(PLUGIN / "doc", tmp_path / "doc")
    editor.request("nvim_command", f"helptags {tmp_path / 'doc'}")  # fails where a tag is there twice
    assert "foretype-options" in (tmp_path / "doc" / "tags").read_text()
    text = (tmp_path / "doc" / "foretype.txt").read_text()
    options = editor.lua("local c = require('foretype.config'); return vim.tbl_keys(c.defaults())")
    for name in {*options, "cmd", "should_attach"} - {"chosen_keys"}:
        assert f"`{name}`" in text, name
    for name in editor.lua("return vim.fn.getcompletion('Foretype ', 'cmdline')"):
        assert f":Foretype {name}" in text, name
