"""What the language server is told of each suggestion."""

import time

from completion_server.scripted import Rule


def _told(editor):
    """What became of suggestions; how long they took is for `test_neovim_stopwatch`."""
    told = []
    for event in editor.sent():
        params = event["params"]
        what = params.get("event") or event["method"].rpartition("/")[2]
        if what != "painted":
            told.append((what, params.get("length") or params.get("acceptedLength") or 0))
    return told


def test_typed_out_by_hand(editor):
    editor.engine.say(Rule(match="= ", text="hello()\n"))
    editor.open("x =⟦|⟧")
    editor.keys("a ")
    editor.watch()
    editor.wait_ghost("hello()")
    editor.keys("hello()")
    editor.wait(lambda frame: frame.rows[0].startswith("x = hello()") and not frame.ghost_text)
    assert _told(editor)[-2:] == [("typedThrough", 7), ("hidden", 0)]


def test_half_typed_and_half_taken(editor):
    """seq-metrics, the client's part of it: each suggestion is told of by its own id"""
    editor.engine.say(Rule(match="= ", text="one two three\n"), Rule(match="z", text="other\n"))
    editor.open("x =⟦|⟧", name="a.txt")
    editor.watch()
    editor.keys("a ")
    editor.wait_ghost("one two three")
    editor.keys("on")
    editor.wait_ghost("e two three")
    editor.keys("<C-Right>")
    editor.wait_ghost(" two three")
    editor.keys("<C-Right>")
    editor.wait_ghost(" three")
    editor.keys("z")
    editor.wait_ghost("other")
    editor.keys("<Tab>")
    editor.settle()
    told = _told(editor)
    assert told == [
        ("didShowCompletion", 0),
        ("didPartiallyAcceptCompletion", 3),
        ("didPartiallyAcceptCompletion", 7),
        ("typedThrough", 2),
        ("hidden", 0),
        ("didShowCompletion", 0),
        ("foretype.accepted", 0),
    ]


def test_what_comes_back_is_shown_again(editor):
    editor.engine.say(Rule(match="= ", text="hello()\n"))
    editor.open("x =⟦|⟧")
    editor.watch()
    editor.keys("a ")
    editor.wait_ghost("hello()")
    editor.settle()
    editor.keys("q")
    editor.wait(lambda frame: frame.rows[0].startswith("x = q") and not frame.ghost_text)
    editor.keys("<BS>")
    editor.wait_ghost("hello()")
    editor.settle()
    editor.keys("<Esc>")
    assert [what for what, _ in _told(editor)] == ["didShowCompletion", "hidden", "didShowCompletion", "hidden"]


def test_lengths_are_utf_16(editor):
    editor.engine.say(Rule(match="= ", text="'🙂 é' + rest\n"))
    editor.open("x =⟦|⟧")
    editor.watch()
    editor.keys("a ")
    editor.wait_ghost("'🙂 é' + rest")
    for rest in ("🙂 é' + rest", " é' + rest", "' + rest"):
        editor.keys("<C-Right>")
        editor.wait(lambda frame, rest=rest: frame.ghost_text == rest)
    assert [length for what, length in _told(editor) if what == "didPartiallyAcceptCompletion"] == [1, 3, 5]


def test_nothing_but_the_item_itself_is_told(editor):
    editor.engine.say(Rule(match="= ", text="hello()\n"))
    editor.open("secret_name =⟦|⟧")
    editor.watch()
    editor.keys("a ")
    editor.wait_ghost("hello()")
    editor.keys("hel<Esc>")
    assert "secret_name" not in str(editor.sent())


def _look(seconds):
    """What a person does with a suggestion that counts as shown: it takes 200 ms."""
    time.sleep(seconds)


def test_the_counters_of_a_day(new_editor, engine):
    """seq-metrics: one accepted, one typed out, one half taken by words, one shown for a moment and replaced."""
    rules = [Rule(match=f"{name} = ", text=f"{name}_one {name}_two\n") for name in "abc"]
    engine.say(*rules, Rule(match="d = ", text="quick\n"), Rule(match="d = x", text="other\n"))
    editor = new_editor()
    editor.set_up()
    editor.open("", name="a.txt")
    editor.keys("ia = ")
    editor.wait_ghost("a_one a_two")
    _look(0.3)
    editor.keys("<Tab><CR>b = ")
    editor.wait_ghost("b_one b_two")
    _look(0.3)
    editor.keys("b_one b_two<CR>c = ")
    editor.wait_ghost("c_one c_two")
    _look(0.3)
    editor.keys("<C-Right><CR>d = ")
    editor.wait_ghost("quick")
    editor.keys("x")
    editor.wait_ghost("other")
    _look(0.3)
    editor.keys("<C-]><Esc>")
    editor.settle()
    editor.lua("""
      require('foretype.client').command(0, { command = 'foretype.status' }, function(found) _G.today = found.today end)
    """)
    editor.wait_lua("return _G.today ~= nil")
    today = editor.lua("return _G.today")
    counted = {name: count for name, count in today.items() if count and "characters" not in name}
    assert counted == {"shown": 4, "accepted": 1, "partially_accepted": 1, "typed_through": 1, "dismissed": 1}
