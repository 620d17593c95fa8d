"""What the language server is told of each suggestion."""

from completion_server.scripted import Rule


def _told(editor):
    told = []
    for event in editor.sent():
        params = event["params"]
        what = params.get("event") or event["method"].rpartition("/")[2]
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
    editor.open("x =⟦|⟧")
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
