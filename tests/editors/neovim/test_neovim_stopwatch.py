"""How long a suggestion took from the key to the screen, as the language server is told."""

from completion_server.scripted import Rule

MOST = 20_000  # ms: an upper bound for what takes milliseconds on a quiet machine


def _painted(editor, count=1):
    editor.wait_lua(
        "return #vim.tbl_filter(function(sent) return sent.params.event == 'painted' end, _G.sent)", wanted=count
    )
    return [event["params"] for event in editor.sent() if event["params"].get("event") == "painted"]


def test_the_key_the_reply_and_the_paint(editor):
    editor.engine.say(Rule(match="= ", text="hello()\n", delay_ms=50))
    editor.open("x =⟦|⟧")
    editor.watch()
    editor.keys("a ")
    editor.wait_ghost("hello()")
    (times,) = _painted(editor)
    assert times["id"]
    assert 0 < times["keyMs"] < MOST
    assert 50 <= times["replyMs"] < MOST
    assert 0 < times["paintMs"] < MOST


def test_once_for_each_answer_and_not_for_what_is_typed_through(editor):
    editor.engine.say(Rule(match="= ", text="hello()\n"), Rule(match="q", text="other\n"))
    editor.open("x =⟦|⟧")
    editor.watch()
    editor.keys("a ")
    editor.wait_ghost("hello()")
    editor.keys("he")
    editor.wait_ghost("llo()")
    first = _painted(editor)
    editor.keys("q")
    editor.wait_ghost("other")
    _, second = _painted(editor, 2)
    assert second["id"] != first[0]["id"]


def test_what_is_asked_for_without_a_key_has_none(editor):
    """the engine is ready, the menu has closed: nobody waits since a key"""
    editor.engine.say(Rule(match="= ", text="hello()\n"))
    editor.open("x =⟦|⟧")
    editor.keys("a ")
    editor.wait_ghost("hello()")
    editor.watch()
    editor.lua("""
      local session = require('foretype')._session()
      session.shelf:clear()
      session:update(true)
    """)
    (times,) = _painted(editor)
    assert "keyMs" not in times
    assert times["replyMs"] > 0
