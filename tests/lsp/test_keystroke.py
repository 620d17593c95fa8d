"""From stamps to durations: worked out by hand, and never beyond what was measured."""

import math
from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.protocol import FrontTimes, Report
from completion_server.protocol.codec import decode, encode
from lsp.errand import Errand
from lsp.fake_engine import FakeEngine
from lsp.keystroke import MOST_MS, ClientTimes, Keystroke

# Stamps in seconds: asked at 1 s, sent after 2 ms, the engine's last word 90 ms later, cut in 4 ms, returned in 1 ms.
WHOLE = Errand(7, 1.0, 1.002, 1.092, 1.096, whole=True)
STROKE = Keystroke("engine", "go", 9, 1.0, 1.097, errand=WHOLE)


def rounded(times: FrontTimes) -> tuple[float, ...]:
    return tuple(round(value, 6) for value in astuple(times))


def test_without_a_client_that_tells_it_begins_with_the_request() -> None:
    report = STROKE.report()
    assert (report.request, round(report.suggestion_ms, 6)) == (7, 97)
    assert rounded(report.times) == (0, 0, 2, 90, 4, 1, 0, 97)


def test_from_the_key_to_the_paint() -> None:
    report = STROKE.report(ClientTimes(key_ms=15, reply_ms=100, paint_ms=6))
    assert round(report.suggestion_ms, 6) == 15 + 100
    assert rounded(report.times) == (15, 3, 2, 90, 4, 1, 6, 15 + 100 + 6)


def test_a_head_was_answered_before_the_engine_had_ended() -> None:
    head = Errand(7, 1.0, 1.002, 1.04, 1.044, whole=False)
    report = Keystroke("growing", "go", 9, 1.0, 1.045, errand=head).report(ClientTimes(15, 50, 6))
    assert report.outcome == "engine"
    assert rounded(report.times) == (15, 5, 2, 0, 4, 1, 6, 15 + 50 + 6)


def test_a_head_that_was_there_before_the_key_waited_for_nobody() -> None:
    head = Errand(7, 1.0, 1.002, 1.04, 1.504, whole=False)
    times = Keystroke("growing", "go", 9, 1.5, 1.505, errand=head).report().times
    assert rounded(times)[2:6] == (2, 0, 4, 1)


def test_a_key_that_took_over_older_work_was_not_there_when_that_began() -> None:
    report = Keystroke("engine", "go", 9, 1.05, 1.097, errand=WHOLE).report(ClientTimes(15, 50, 6))
    assert round(report.suggestion_ms, 6) == 15 + 50
    assert rounded(report.times) == (0, 0, 2, 90, 4, 1, 6, 97 + 6)


def test_from_cache_it_is_returned_and_painted() -> None:
    report = Keystroke("from-cache", "go", 9, 1.0, 1.001).report(ClientTimes(15, 2, 6))
    assert report.request == 0
    assert rounded(report.times) == (15, 1, 0, 0, 0, 1, 6, 23)


def test_what_brought_no_text_was_never_shown() -> None:
    assert Keystroke("empty", "go", 0, 1.0, 1.097, errand=WHOLE).report().times.shown_ms == 0


@pytest.mark.parametrize("absurd", [-1, -0.5, math.nan, math.inf, MOST_MS + 1, 10**400, True, "15", [15], {}])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_absurd_time_spoils_the_message_that_it_is_in(absurd: Any, place: int) -> None:
    values: list[Any] = [1, 2.5, None]
    assert ClientTimes.read(*values) == ClientTimes(1, 2.5, 0)
    values[place] = absurd
    assert ClientTimes.read(*values) is None


TIME = st.one_of(st.none(), st.floats(), st.integers(), st.floats(0, MOST_MS))
STAMP = st.floats(0, 40.0)


@given(TIME, TIME, TIME, st.lists(STAMP, min_size=5, max_size=5), STAMP, st.booleans())
def test_whatever_a_client_says_the_engine_can_be_told(
    key: Any, reply: Any, paint: Any, stamps: list[float], received: float, whole: bool
) -> None:
    answered = max(*stamps, received)
    stroke = Keystroke("engine", "go", 9, received, answered, errand=Errand(1, *sorted(stamps)[:4], whole=whole))
    report = Report("Neovim", (stroke.report(ClientTimes.read(key, reply, paint)),))
    assert decode(encode(report)) == report


async def painted(editor: Any, engine: FakeEngine, said: dict[str, Any]) -> FrontTimes:
    """What the engine is told of a suggestion whose client said this of itself."""
    engine.say = lambda _: "a + b\n"
    editor.open("def add(a, b):\n    return ")
    [item] = await editor.items(editor.ask(1, 11))
    editor.notify("foretype/event", {"id": item["command"]["arguments"][0], "event": "painted", **said})
    editor.send({"id": "bye", "method": "shutdown", "params": None})
    await editor.until(lambda: engine.reports)
    (report,) = engine.reports
    (key,) = report.keys
    assert (key.outcome, key.request) == ("engine", 1)
    return key.times


async def test_the_server_tells_the_engine_of_every_stage(editor: Any, engine: FakeEngine) -> None:
    times = await painted(editor, engine, {"keyMs": 15, "replyMs": 30_000, "paintMs": 6.5})
    assert (times.key_ms, times.painted_ms) == (15, 6.5)
    assert min(times.sent_ms, times.engine_ms, times.trimmed_ms, times.returned_ms) > 0
    served = times.sent_ms + times.engine_ms + times.trimmed_ms + times.returned_ms
    assert times.server_way_ms == pytest.approx(30_000 - served)
    assert times.shown_ms == pytest.approx(15 + 30_000 + 6.5)


@pytest.mark.parametrize("said", [{}, {"keyMs": -1}, {"keyMs": math.nan, "paintMs": 6}, {"paintMs": "soon"}])
async def test_what_is_absurd_costs_no_report(editor: Any, engine: FakeEngine, said: dict[str, Any]) -> None:
    times = await painted(editor, engine, said)
    assert (times.key_ms, times.painted_ms) == (0, 0)
    assert times.engine_ms > 0


async def test_a_client_that_does_not_say_when_it_painted(editor: Any, engine: FakeEngine) -> None:
    times = await painted(editor, engine, {"keyMs": 15})
    assert (times.key_ms, times.server_way_ms, times.painted_ms) == (15, 0, 0)
