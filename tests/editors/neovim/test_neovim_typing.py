"""What happens to ghost text while somebody types, and what is asked for. Names as in the project's list of cases."""

import pytest

from completion_server.scripted import Rule


def _asked(editor):
    """What stood in front of the cursor, for each request that reached the engine."""
    return [request.context.before for request in editor.engine.asked()]


def test_type_through_only_shrinks_and_backspace_brings_it_back(editor):
    """seq-type-through"""
    text = "createModelServices()"
    editor.engine.say(text + "\n")
    editor.open("const s =⟦|⟧", name="a.ts")
    editor.keys("a ")
    editor.wait_ghost(text)
    editor.watch()
    editor.frames.clear()
    for typed in range(1, 12):
        editor.keys(text[typed - 1])
        editor.wait_ghost(text[typed:])
    editor.keys("<BS>")
    editor.wait_ghost(text[10:])
    for typed in range(11, len(text) - 1):
        editor.keys(text[typed - 1])
        editor.wait_ghost(text[typed:])
    assert editor.asked() == 0
    shown = [frame.rows[0].rstrip() for frame in editor.frames]
    assert set(shown) == {f"const s = {text}"}, "every frame shows all of it: typed or grey"


def test_typing_faster_than_it_is_painted(editor):
    editor.engine.say("createModelServices()\n")
    editor.open("const s =⟦|⟧", name="a.ts")
    editor.keys("a ")
    editor.wait_ghost("createModelServices()")
    editor.watch()
    editor.keys("createModel")
    editor.wait_ghost("Services()")
    assert editor.asked() == 0


def test_another_key_hides_it_and_backspace_brings_it_back(editor):
    editor.engine.say(Rule(match="x", text=""), "bar\n")
    editor.open("foo⟦|⟧")
    editor.keys("a")
    editor.wait_ghost("bar")
    editor.keys("x")
    editor.wait(lambda frame: frame.rows[0].startswith("foox") and not frame.ghost_text)
    editor.settle()
    editor.watch()
    editor.keys("<BS>")
    editor.wait_ghost("bar")
    assert editor.asked() == 0


def test_stale_accept(editor):
    """seq-stale-accept: key and Tab come in one piece, before anything is painted"""
    editor.engine.say(Rule(match="foo", text="bar\n"))
    editor.open("foo⟦|⟧", name="a.txt")
    editor.keys("a")
    editor.wait_ghost("bar")
    editor.keys("b<Tab>")
    assert editor.text() == "foobar"
    editor.keys("<Esc>ccfoo")
    editor.wait_ghost("bar")
    editor.keys("x<Tab>")
    assert editor.text() == "foox\t"


def test_late_reply(editor):
    """seq-late-reply: the answer comes after its place has gone"""
    editor.engine.say(Rule(text="late()\n", delay_ms=300))
    lines = [f"line_{number} = {number}" for number in range(1, 21)]
    editor.open("\n".join([*lines[:9], "x =⟦|⟧", *lines[10:]]), name="one.py")
    editor.keys("a ")
    editor.settle()
    editor.request("nvim_buf_set_lines", 0, 4, 10, True, [])
    editor.keys("<Esc>")
    editor.settle()
    assert len(editor.engine.asked()) <= 2
    editor.open("y =⟦|⟧", name="two.py")
    editor.keys("a ")
    editor.settle()
    editor.request("nvim_command", "stopinsert | edit! three.py | bwipeout! one.py two.py")
    editor.engine.say("new()\n")
    editor.keys("iz = ")
    editor.wait_ghost("new()")
    assert all("late" not in frame.ghost_text for frame in editor.frames)
    assert "rror" not in editor.lua("return vim.fn.execute('messages')")


def test_an_answer_whose_text_moved_down_is_dropped(editor):
    """Another empty line stands now where the cursor's was, and the cursor in it."""
    editor.open("a = 1\n⟦|⟧\nb = 2")
    editor.keys("i")
    moved = "vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'z = 0', '' }) vim.api.nvim_win_set_cursor(0, { 2, 0 })"
    editor.answer("here()", 0, 0, meanwhile=moved)
    editor.settle()
    assert not editor.lua("return require('foretype').visible()")
    assert not editor.frame.ghost_text


def test_a_slow_engine_is_not_asked_at_every_key(editor):
    """The running request finishes, and its answer holds because what was typed since is the head of it."""
    editor.engine.say(Rule(match=" ", text="answer_to_all\n", delay_ms=300))
    editor.open("x =⟦|⟧")
    editor.keys("a")
    editor.wait_idle()
    editor.lua("local pace = require('foretype')._session().pace; pace.latency, pace.gap = 600, 100")
    editor.watch()
    for key in " answer":
        editor.keys(key)
        editor.settle()
    editor.wait_ghost("_to_all")
    assert [before for before in _asked(editor) if before.startswith("x = ")] == ["x = "]
    assert editor.asked() == 1


def test_a_quick_engine_is_asked_at_every_key_and_what_is_superseded_is_cancelled(editor):
    editor.engine.say(Rule(text="never()\n", delay_ms=20_000))
    editor.open("x =⟦|⟧")
    editor.lua("require('foretype')._session().pace.gap = 1000")
    editor.watch()
    for key in "a abcdef":
        editor.keys(key)
        editor.settle()
    assert editor.asked() == 8
    assert editor.lua("return _G.most_live") == 1
    editor.wait_lua("return vim.tbl_count(require('foretype.client').get().requests)", wanted=1)


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [(2, "ther", "o = bar"), (2, "o = bar + 1", "o = bar + 1"), (1, "ther", "ther")],
    ids=["contradicts", "goes on", "was asked for"],
)
def test_a_new_answer_replaces_what_is_shown_only_if_it_agrees(editor, kind, text, shown):
    editor.engine.say(Rule(match="fo", text="o = bar\n"))
    editor.open("fo⟦|⟧")
    editor.keys("a")
    editor.wait_ghost("o = bar")
    editor.answer(text, 2, 2, kind=kind)
    editor.wait_ghost(shown)
    editor.settle()
    assert editor.frame.ghost_text == shown


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("setlocal readonly", "read-only"),
        ("setlocal nomodifiable", "read-only"),
        ("setlocal buftype=nofile", "nofile"),
        ("setlocal buftype=prompt", "prompt"),
        ("let b:foretype = v:false | doautocmd FileType", "b:foretype"),
    ],
)
def test_buffers_that_nobody_writes_code_in(editor, how, reason):
    editor.engine.say("never\n")
    editor.open("x = 1")
    editor.watch()
    editor.request("nvim_command", how)
    assert reason in editor.lua("return require('foretype').reason()")
    editor.keys("A = <Esc>")
    editor.settle()
    assert editor.asked() == 0
    assert editor.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 0


def test_a_huge_buffer_never_leaves_the_editor(new_editor):
    editor = new_editor()
    editor.set_up(max_bytes=1000)
    editor.open("x" * 1000, wait=False)
    editor.request("nvim_command", "doautocmd BufEnter")
    assert "max_bytes" in editor.lua("return require('foretype').reason()")


def test_a_macro(editor):
    editor.engine.say("never\n")
    editor.open("x = 1\ny = 2")
    editor.watch()
    editor.keys("qaA0<Esc>jq@a")
    assert editor.text() == "x = 10\ny = 20"
    assert editor.asked() == 0


def test_a_diff(editor):
    editor.engine.say("never\n")
    editor.open("x = 1")
    editor.watch()
    editor.request("nvim_command", "diffthis")
    editor.keys("A0<Esc>")
    editor.settle()
    assert editor.asked() == 0


def test_replace_mode(editor):
    editor.engine.say("never\n")
    editor.open("x = 1")
    editor.watch()
    editor.keys("Rab<Esc>")
    editor.settle()
    assert editor.asked() == 0


def test_the_first_buffers_without_a_name(editor):
    """Two of them have the same URI: only the one that is typed in is open in the server."""
    editor.engine.say("1\n")
    editor.request("nvim_command", "enew")
    editor.wait_lua("return require('foretype.status').get().phase == 'ready'")
    editor.keys("ifirst = ")
    editor.wait_ghost("1")
    editor.keys("<Tab><Esc>")
    editor.request("nvim_command", "enew!")
    editor.wait_lua("return require('foretype')._session() ~= nil")
    editor.keys("isecond = ")
    editor.wait_ghost("1")
    assert editor.engine.asked()[-1].context.before == "second = "


def test_names_with_spaces_and_letters_of_all_kinds(editor):
    editor.engine.say("1\n")
    editor.open("x =⟦|⟧", name="ein\\ schöner\\ Name\\ 名.py")
    editor.keys("a ")
    editor.wait_ghost("1")
    editor.keys("<Tab>")
    assert editor.text() == "x = 1"
