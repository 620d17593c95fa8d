"""What the engine's store is told: every key and event once, many at a time, and nothing of what they say."""

import asyncio
from dataclasses import astuple
from typing import Any

import pytest

from completion_server.protocol import MAX_REPORT, EventReport, KeyReport, Report, Usage
from lsp.events import Event
from lsp.fake_engine import FakeEngine
from lsp.reports import Reports


class Engine:
    """Takes reports while it is there."""

    def __init__(self) -> None:
        self.there = True
        self.reports: list[Report] = []

    def send(self, report: Report) -> bool:
        if self.there:
            self.reports.append(report)
        return self.there


@pytest.fixture
def sink() -> Engine:
    return Engine()


@pytest.fixture
def reports(sink: Engine) -> Reports:
    reports = Reports(sink.send)
    reports.editor = "Neovim"
    return reports


async def test_keys_and_events_go_together(reports: Reports, sink: Engine) -> None:
    reports.answered("engine", "go", 9, 0.09, Usage(first_tokens_ms=30))
    reports.happened(Event("s1", "accepted", 9, "go"))
    assert sink.reports == []
    reports.flush()
    assert sink.reports == [
        Report("Neovim", (KeyReport("engine", "go", 9, 90.0, 30.0),), (EventReport("accepted", "go", 9),))
    ]


async def test_they_go_by_themselves_a_little_later(
    reports: Reports, sink: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp.reports.AFTER", 0.0)
    reports.answered("from-cache", "go", 9, 0.001, None)
    async with asyncio.timeout(10):
        while not sink.reports:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert sink.reports[0].keys[0].first_tokens_ms == 0


async def test_the_head_of_what_grows_is_there_when_it_is_answered(reports: Reports, sink: Engine) -> None:
    reports.answered("growing", "go", 9, 0.05, None)
    reports.stop()
    (key,) = sink.reports[0].keys
    assert (key.outcome, key.suggestion_ms, key.first_tokens_ms) == ("engine", 50.0, 50.0)


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
    reports.answered("engine", "go", 9, 0.05, None)
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
