"""What the language server hears of a cursor that moves without a key being typed."""

import time

from completion_server.protocol import Warm

SOON = 20.0


def _wait(holds):
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_text_where_a_cursor_comes_to_rest_is_read_before_the_first_key(editor):
    editor.engine.say("x\n")
    editor.open("one\ntwo\nthree\n⟦|⟧")
    editor.keys("ggjl")
    requests = editor.engine.backend.requests
    _wait(lambda: any(isinstance(warm, Warm) and warm.context.before == "one\nt" for warm in requests))
    assert editor.engine.asked() == []


def test_of_places_on_the_way_the_server_hears_nothing(editor):
    editor.engine.say("x\n")
    editor.open("\n".join(f"line {number}" for number in range(40)))
    editor.watch()
    editor.keys("gg" + "j" * 30)
    _wait(lambda: editor.rested()[-1:] == [30])
    assert len(editor.rested()) < 5
