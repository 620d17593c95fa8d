"""What the engine's store is told: every key and event once, many at a time, and nothing of what they say."""

import asyncio
from dataclasses import astuple
from typing import Any

import pytest

from completion_server.protocol import MAX_REPORT, EventReport, Report, Usage
from lsp.answer import Answer, Ghost, Outcome
from lsp.events import Event
from lsp.fake_engine import FakeEngine
from lsp.keystroke import ClientTimes
from lsp.reports import AFTER, Reports
from lsp.text import Position


class Engine:
    """Takes reports while it is there."""

    def __init__(self) -> None:
        self.there = True
        self.reports: list[Report] = []

    def send(self, report: Report) -> bool:
        if self.there:
            self.reports.append(report)
        return self.there


class Clock:
    """Stands still until it is moved; seconds that are exact in binary, so that differences are too."""

    now = 1_024.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def sink() -> Engine:
    return Engine()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reports(sink: Engine, clock: Clock) -> Reports:
    reports = Reports(sink.send, clock)
    reports.editor = "Neovim"
    return reports


def answer(outcome: Outcome = "engine", own_id: str = "s1", usage: Usage | None = None) -> Answer:
    """Nine characters of a suggestion, none with an empty id."""
    ghosts = (Ghost(own_id, "a + b + c", Position(0, 0)),) if own_id else ()
    return Answer(outcome, 1, Position(0, 0), ghosts, usage)


async def test_keys_and_events_go_together(reports: Reports, sink: Engine, clock: Clock) -> None:
    reports.answered(answer(usage=Usage(first_tokens_ms=30)), "go", clock.now - 0.125)
    reports.happened(Event("s1", "accepted", 9, "go"))
    assert sink.reports == []
    reports.stop()
    (report,) = sink.reports
    (key,) = report.keys
    assert (key.outcome, key.language, key.characters, key.suggestion_ms, key.first_tokens_ms) == (
        "engine", "go", 9, 125.0, 30.0,
    )  # fmt: skip
    assert (report.editor, report.events) == ("Neovim", (EventReport("accepted", "go", 9),))


async def test_they_go_by_themselves_a_little_later(sink: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp.reports.AFTER", 0.0)
    reports = Reports(sink.send)
    reports.answered(answer("from-cache"), "go", 0.0)
    async with asyncio.timeout(10):
        while not sink.reports:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert sink.reports[0].keys[0].first_tokens_ms == 0


async def test_the_head_of_what_grows_is_there_when_it_is_answered(
    reports: Reports, sink: Engine, clock: Clock
) -> None:
    reports.answered(answer("growing"), "go", clock.now - 0.0625)
    reports.stop()
    (key,) = sink.reports[0].keys
    assert (key.outcome, key.suggestion_ms, key.first_tokens_ms) == ("engine", 62.5, 62.5)


async def test_a_suggestion_waits_for_its_paint_and_what_brought_none_does_not(
    reports: Reports, sink: Engine, clock: Clock
) -> None:
    reports.answered(answer("empty", ""), "go", clock.now)
    reports.answered(answer(), "go", clock.now)
    reports.flush()
    assert [key.outcome for report in sink.reports for key in report.keys] == ["empty"]
    reports.painted("s1", ClientTimes(key_ms=20, paint_ms=5))
    reports.flush()
    (key,) = sink.reports[1].keys
    assert (key.times.key_ms, key.times.painted_ms) == (20, 5)
    reports.stop()


async def test_who_never_says_that_it_painted_is_waited_for_a_quarter_of_a_second(
    reports: Reports, sink: Engine, clock: Clock
) -> None:
    reports.answered(answer(), "go", clock.now)
    clock.now += AFTER - 0.0625
    reports.flush()
    assert sink.reports == []
    clock.now += 0.0625
    reports.flush()
    reports.painted("s1", ClientTimes(key_ms=20))  # too late to be of use, and no harm
    assert [len(report.keys) for report in sink.reports] == [1]
    reports.stop()
    assert len(sink.reports) == 1


async def test_paints_find_their_answers_in_any_order(reports: Reports, sink: Engine, clock: Clock) -> None:
    for own_id in ("s1", "s2", "s2"):
        reports.answered(answer(own_id=own_id), "go", clock.now)
    reports.painted("s2", ClientTimes(key_ms=2))  # of the newer of two
    reports.painted("s3", ClientTimes(key_ms=3))
    reports.painted("s1", ClientTimes(key_ms=1))
    reports.painted("s1", ClientTimes(key_ms=9))  # once is enough
    reports.stop()
    assert [key.times.key_ms for report in sink.reports for key in report.keys] == [1, 0, 2]


async def test_what_comes_while_there_is_no_engine_waits_for_one(reports: Reports, sink: Engine) -> None:
    sink.there = False
    for _ in range(MAX_REPORT + 3):
        reports.happened(Event("s1", "shown", 1, "go"))
    reports.flush()
    assert sink.reports == []
    sink.there = True
    reports.flush()
    assert [len(report.events) for report in sink.reports] == [MAX_REPORT, 3]


async def test_only_the_latest_wait(reports: Reports, sink: Engine) -> None:
    for number in range(5_000):
        reports.happened(Event("s1", "shown", number, "go"))
    reports.stop()
    kept = [event.characters for report in sink.reports for event in report.events]
    assert kept == list(range(5_000 - len(kept), 5_000))
    assert len(kept) < 5_000


async def test_switched_off_it_hears_nothing(reports: Reports, sink: Engine) -> None:
    reports.enabled = False
    reports.happened(Event("s1", "shown", 1, "go"))
    reports.answered(answer(), "go", 0.0)
    reports.stop()
    assert sink.reports == []


async def test_the_server_reports_keys_and_events_and_no_text(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "a + secret\n"
    editor.open("def add(a, secret):\n    return ")
    [item] = await editor.items(editor.ask(1, 11))
    editor.notify("textDocument/didShowCompletion", {"item": item})
    command = {key: item["command"][key] for key in ("command", "arguments")}
    editor.send({"id": "accept", "method": "workspace/executeCommand", "params": command})
    await editor.reply("accept")
    editor.send({"id": "bye", "method": "shutdown", "params": None})
    await editor.until(lambda: engine.reports)
    (report,) = engine.reports
    assert [(key.outcome, key.language, key.characters) for key in report.keys] == [("engine", "python", 10)]
    assert [(event.kind, event.characters) for event in report.events] == [("shown", 10), ("accepted", 10)]
    assert "secret" not in str(astuple(report))
