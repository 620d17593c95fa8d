"""What is painted, and where: asserted on the screen of the real editor."""

import pytest


def _rows(frame, count):
    return [row.rstrip() for row in frame.rows[:count]]


def test_ghost_text_follows_a_key_and_tab_takes_it(editor):
    editor.engine.say("a + b\n")
    editor.open("def add(a, b):\n    return⟦|⟧")
    editor.keys("a ")
    frame = editor.wait_ghost("a + b")
    assert _rows(frame, 2) == ["def add(a, b):", "    return a + b"]
    assert frame.cursor == (1, 11)
    editor.keys("<Tab>")
    assert editor.text() == "def add(a, b):\n    return a + b"
    assert editor.cursor() == (2, 16)


def test_several_lines_stand_below(editor):
    editor.engine.say("x:\n        one()\n        two()\n")
    editor.open("def f(x):\n    if⟦|⟧\n\nprint(f(1))")
    editor.keys("a ")
    frame = editor.wait_ghost("x:\n        one()\n        two()")
    assert _rows(frame, 6) == ["def f(x):", "    if x:", "        one()", "        two()", "", "print(f(1))"]


def test_what_stands_behind_the_cursor_is_painted_behind_the_last_line(editor):
    editor.engine.say("\n    1,\n    2,\n)")
    editor.open("f(⟦|⟧)")
    editor.keys("i")
    frame = editor.wait(lambda frame: "2," in frame.ghost_text)
    assert _rows(frame, 4) == ["f(", "    1,", "    2,", ")"]
    editor.keys("<Tab>")
    assert editor.text() == "f(\n    1,\n    2,\n)"


def test_a_bracket_that_a_plugin_closes_is_taken_over(editor):
    editor.engine.say("(a, b)\n")
    editor.open("x = foo⟦|⟧")
    editor.lua("vim.keymap.set('i', '(', '()<C-g>U<Left>', { buffer = true })")
    editor.keys("a")
    editor.wait_ghost("(a, b)")
    editor.watch()
    editor.keys("(")
    frame = editor.wait_ghost("a, b")
    assert _rows(frame, 1) == ["x = foo(a, b)"]
    assert editor.asked() == 0
    editor.keys("<Tab>")
    assert editor.text() == "x = foo(a, b)"
    assert editor.cursor() == (1, 13)


def test_a_range_behind_the_cursor_is_replaced(editor):
    editor.open("x = old⟦|⟧")
    editor.keys("0fla")
    editor.answer("d(1)", 6, 7, kind=1)
    frame = editor.wait_ghost("(1)")
    assert _rows(frame, 1) == ["x = old(1)"]
    editor.keys("<Tab>")
    assert editor.text() == "x = old(1)"
    editor.keys("<Esc>ccx = f(a)<Esc>0f(a")
    editor.answer("b, a) + 1", 6, 8, kind=1)
    frame = editor.wait_ghost("b,  + 1")
    assert _rows(frame, 1) == ["x = f(b, a) + 1"]
    editor.keys("<Tab>")
    assert editor.text() == "x = f(b, a) + 1"


def test_tabs_are_as_wide_as_in_the_document(editor):
    editor.engine.say("x {\n\t\treturn\t1\n\t}\n")
    editor.open("func f() {\n\tif⟦|⟧\n}", name="a.go")
    editor.request("nvim_command", "setlocal tabstop=4 noexpandtab")
    editor.keys("a ")
    frame = editor.wait(lambda frame: "return" in frame.ghost_text)
    assert _rows(frame, 5) == ["func f() {", "    if x {", "        return  1", "    }", "}"]


@pytest.mark.parametrize("text", ["名前 = 'é' # 🙂", "naïve(ß)"])
def test_wide_and_multi_byte_characters(editor, text):
    editor.engine.say(text + "\n")
    editor.open("a = '日本' ;⟦|⟧")
    editor.keys("a")
    editor.wait_ghost(text)
    editor.keys(text[0])
    editor.wait_ghost(text[1:])
    editor.keys("<Tab>")
    assert editor.text() == f"a = '日本' ;{text}"
    assert editor.cursor() == (1, len(f"a = '日本' ;{text}".encode()))


def test_line_ends_of_a_dos_file_stay_what_they_are(editor, tmp_path):
    editor.engine.say("[\n    1,\n]\n")
    (tmp_path / "dos.py").write_bytes(b"a = 0\r\nx =\r\nz = 3\r\n")
    editor.open_file("dos.py")
    editor.watch()
    editor.keys("jA ")
    editor.wait_ghost("[\n    1,\n]")
    for rest in ("    1,\n]", "]"):
        editor.keys("<C-Down>")
        editor.wait_ghost(rest)
    editor.keys("<C-Down><Esc>:w<CR>")
    sent = editor.sent()
    assert (tmp_path / "dos.py").read_bytes() == b"a = 0\r\nx = [\r\n    1,\r\n]\r\nz = 3\r\n"
    assert [event["params"]["acceptedLength"] for event in sent if "acceptedLength" in event["params"]] == [1, 9]


def test_a_floating_window(editor):
    editor.engine.say("1\n")
    editor.open("")
    editor.lua("""
      local buf = vim.api.nvim_create_buf(true, false)
      vim.api.nvim_buf_set_name(buf, 'float.py')
      vim.api.nvim_open_win(buf, true, { relative = 'editor', row = 5, col = 10, width = 30, height = 3 })
    """)
    editor.wait_lua("return require('foretype')._session() ~= nil")
    editor.keys("ix = ")
    frame = editor.wait_ghost("1")
    assert frame.rows[5][10:40].rstrip() == "x = 1"
    editor.keys("<Tab>")
    assert editor.text() == "x = 1"


def test_accepted_lines_are_not_hidden_in_a_fold(editor):
    editor.engine.say("x:\n        y()\n        z()\n")
    editor.open("def f():\n    if⟦|⟧")
    editor.request("nvim_command", "setlocal foldmethod=indent foldlevel=0 foldminlines=0")
    editor.keys("zRa ")
    editor.wait_ghost("x:\n        y()\n        z()")
    editor.keys("<Tab>")
    frame = editor.wait(lambda frame: "z()" in frame.rows[3] and not frame.ghost_text)
    assert _rows(frame, 4) == ["def f():", "    if x:", "        y()", "        z()"]
    assert frame.cursor == (3, 11)


def test_colours_outlive_a_colour_scheme(editor):
    for scheme in ("habamax", "default"):
        editor.request("nvim_command", "highlight link ForetypeGhost NONE | highlight clear ForetypeGhost")
        editor.request("nvim_command", f"colorscheme {scheme}")
        assert editor.lua("return vim.api.nvim_get_hl(0, { name = 'ForetypeGhost' }).link") == "Comment"
