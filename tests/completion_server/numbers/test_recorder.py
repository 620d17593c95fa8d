"""What passes through becomes records, once each, and none of it is text."""

import json
from dataclasses import astuple
from typing import Any

import pytest

from completion_server.numbers.names import MOST
from completion_server.numbers.recorder import Recorder
from completion_server.numbers.records import (
    DraftRecord,
    EventRecord,
    KeyRecord,
    PassRecord,
    Record,
    RequestRecord,
    TraceRecord,
)
from completion_server.numbers.stages import engine_stages
from completion_server.protocol import (
    MAX_TRACES,
    Cancelled,
    Complete,
    Context,
    Delta,
    DraftCount,
    EngineMessage,
    Error,
    EventReport,
    FrontTimes,
    KeyReport,
    Report,
    Result,
    Round,
    Usage,
)

REQUEST = Complete(1, Context("d", 1, "my secret before", "my secret after", "python", "my secret path"))
USAGE = Usage(
    prompt_tokens=10, cached_tokens=9, computed_tokens=1, completion_tokens=4, drafted_tokens=3, accepted_tokens=2,
    target_passes=2, queue_ms=1, tokenize_ms=1.5, match_ms=0.5, first_tokens_ms=20, ttft_ms=21, e2e_ms=50,
    rounds=(Round(17, 4, "n-gram", 3, 2), Round(15, 1, "", 0, 0)), drafts=(DraftCount("n-gram", 0, 1, 1),),
)  # fmt: skip


def recorded(reply: EngineMessage) -> list[Record]:
    found: list[Record] = []
    Recorder([found.append], clock=lambda: 5.0).answered("lsp", "embedded", REQUEST, reply)
    return found


def test_a_result_is_a_request_and_its_drafts() -> None:
    assert recorded(Result(1, "my secret text", "end-of-line", USAGE)) == [
        RequestRecord(5.0, "lsp", "embedded", "python", "completed", 10, 9, 1, 4, 3, 2, 2, 1, 20, 21, 50),
        DraftRecord(5.0, "embedded", "python", "n-gram", 0, 1, 1),
        PassRecord(5.0, "embedded", 4, 17, first=True),
        PassRecord(5.0, "embedded", 1, 15, first=False),
    ]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Cancelled(1, "superseded", Usage()), "superseded"),
        (Cancelled(1, "client", Usage()), "client"),
        (Error(1, "overloaded", "too many"), "refused"),
        (Error(1, "internal", "my secret reason"), "failed"),
    ],
)
def test_other_ends(reply: EngineMessage, outcome: str) -> None:
    (record,) = recorded(reply)
    assert isinstance(record, RequestRecord)
    assert record.outcome == outcome


def test_a_delta_is_no_end() -> None:
    assert recorded(Delta(1, "my secret text")) == []


def test_a_slow_request_leaves_a_trace() -> None:
    from dataclasses import replace

    *_, trace = recorded(Result(1, "x", "end-of-line", replace(USAGE, e2e_ms=200)))
    assert isinstance(trace, TraceRecord)
    assert (trace.total_ms, sum(took for _, took in json.loads(trace.stages))) == (200, 200)


def test_a_report_is_keys_and_events_of_its_editor() -> None:
    found: list[Record] = []
    report = Report("Neovim", (KeyReport("engine", "go", 9, 90.0, 30.0),), (EventReport("accepted", "go", 9),))
    Recorder([found.append], clock=lambda: 5.0).reported("embedded", report)
    assert found == [
        KeyRecord(5.0, "Neovim", "embedded", "go", "engine", 9, 90.0, 30.0),
        EventRecord(5.0, "Neovim", "embedded", "go", "accepted", 9),
    ]


def test_no_record_holds_text_of_a_user() -> None:
    replies: list[Any] = [Result(1, "my secret text", "end-of-line", USAGE), Error(1, "internal", "my secret reason")]
    for reply in replies:
        assert all("secret" not in str(astuple(record)) for record in recorded(reply))


def test_the_latest_requests_are_remembered_with_their_stages() -> None:
    now = 5.0
    recorder = Recorder((), clock=lambda: now)
    for number in range(MAX_TRACES + 2):
        recorder.answered(
            "lsp", "p", REQUEST, Error(1, "internal", "") if number == 0 else Result(1, "", "loop", USAGE)
        )
    now = 8.0
    assert recorder.latest(0) == ()
    assert len(recorder.latest(MAX_TRACES)) == MAX_TRACES
    (trace,) = recorder.latest(1)
    assert (round(trace.age_s, 6), trace.client, trace.outcome, trace.total_ms) == (3.0, "lsp", "completed", 50)
    assert trace.stages == engine_stages(USAGE)


def test_a_key_keeps_its_stages_outside_the_engine() -> None:
    found: list[Record] = []
    recorder = Recorder([found.append], clock=lambda: 5.0)
    recorder.answered("lsp", "embedded", REQUEST, Result(1, "x", "end-of-line", USAGE), connection=3)
    del found[:]
    times = FrontTimes(15, 3, 2, 54, 6, 1, 7, 88)
    key = KeyReport("engine", "go", 9, 90.0, 20.0, 1, times)
    recorder.reported("embedded", Report("Neovim", (key,)), client="lsp", connection=3)
    recorder.reported("embedded", Report("Neovim", (key,)), client="lsp", connection=4)  # whose request 1 nobody knows
    assert found == [
        KeyRecord(5.0, "Neovim", "embedded", "go", "engine", 9, 90.0, 20.0, 15, 3, 2, way, 6, 1, 7) for way in (4, 0)
    ]


def test_of_ten_thousand_names_a_few_are_kept_apart() -> None:
    found: list[Record] = []
    recorder = Recorder([found.append])
    for number in range(10_000):
        name = f"name{number}"
        recorder.reported("p", Report(name, (KeyReport(name, name, 0, 0.0, 0.0),), (EventReport("shown", name, 1),)))
        recorder.answered(name, "p", Complete(1, Context("d", 1, "", "", name)), Error(1, "internal", ""))
    for field in ("client", "editor", "language", "outcome"):
        assert len({getattr(record, field) for record in found if hasattr(record, field)}) <= MOST + 2
    assert len(found) == 30_000


def test_every_sink_hears_of_everything() -> None:
    first: list[Record] = []
    second: list[Record] = []
    Recorder([first.append, second.append]).answered("lsp", "p", REQUEST, Error(1, "internal", ""))
    assert len(first) == len(second) == 1
