"""Two parts of one trace, from two processes: joined whichever comes first, and never waited for."""

import json
import random
from dataclasses import replace

import pytest

from completion_server.numbers.records import TraceRecord
from completion_server.numbers.traces import Traces
from completion_server.protocol import MAX_TRACES, FrontTimes, KeyReport, Usage

FAST = Usage(queue_ms=10, e2e_ms=50)
SLOW = Usage(queue_ms=10, e2e_ms=200)
TIMES = FrontTimes(key_ms=15, sent_ms=2, engine_ms=54, trimmed_ms=6, returned_ms=1, painted_ms=7, shown_ms=85)


class Kept:
    """Traces at a time that stands still, and what they told, by its time."""

    def __init__(self) -> None:
        self.told: list[TraceRecord] = []
        self.traces = Traces(self.told.append, clock=lambda: 5.0)

    def answered(self, request: int, usage: Usage = FAST, connection: int = 1, outcome: str = "completed") -> None:
        self.traces.answered((connection, request), "lsp", "embedded", "go", outcome, usage)

    def reported(
        self, request: int, times: FrontTimes = TIMES, connection: int = 1, characters: int = 9
    ) -> float | None:
        outcome = "engine" if request else "from-cache"
        key = KeyReport(outcome, "go", characters, 90.0, 20.0, request, times)
        return self.traces.reported(connection, "lsp", "embedded", key)

    def key_ms(self, count: int = MAX_TRACES) -> list[float]:
        """How long the key took in each of the latest, 0 where nobody has said so."""
        return [sum(stage.ms for stage in trace.stages if stage.name == "key") for trace in self.traces.latest(count)]


@pytest.fixture
def kept() -> Kept:
    return Kept()


def test_the_engine_first(kept: Kept) -> None:
    kept.answered(1)
    assert kept.key_ms() == [0]
    assert kept.reported(1) == 50
    (trace,) = kept.traces.latest(1)
    assert (trace.client, trace.outcome, trace.total_ms, trace.shown_ms) == ("lsp", "completed", 15 + 2 + 54 + 14, 85)


def test_the_front_end_first(kept: Kept) -> None:
    assert kept.reported(1, replace(TIMES, engine_ms=0)) is None
    assert kept.traces.latest(1) == ()
    kept.answered(1)
    (trace,) = kept.traces.latest(1)
    assert [stage.name for stage in trace.stages] == ["key", "sent", "queued", "last token"]


def test_many_in_any_order_each_find_their_own(kept: Kept) -> None:
    parts = [(say, number) for number in range(1, MAX_TRACES + 1) for say in ("engine", "front end")]
    random.Random(7).shuffle(parts)
    for say, number in parts:
        if say == "engine":
            kept.answered(number, Usage(e2e_ms=number))
        else:
            kept.reported(number, FrontTimes(key_ms=1000 + number))
    found = [tuple(stage.ms for stage in trace.stages) for trace in kept.traces.latest(MAX_TRACES)]
    assert sorted(found) == [(1000 + number, number) for number in range(1, MAX_TRACES + 1)]


def test_what_was_cancelled_before_any_work_is_not_among_the_latest(kept: Kept) -> None:
    """it would push out those of which there is something to see"""
    kept.answered(1)
    kept.answered(2, Usage(e2e_ms=9), outcome="client")
    for request in range(3, 20):
        kept.answered(request, Usage(), outcome="client")
    kept.answered(20, Usage(), outcome="failed")
    assert [trace.outcome for trace in kept.traces.latest(3)] == ["completed", "client", "failed"]


def test_requests_of_other_clients_have_the_same_ids(kept: Kept) -> None:
    kept.answered(1, connection=1)
    kept.answered(1, connection=2)
    kept.reported(1, connection=2)
    assert kept.key_ms() == [0, 15]


def test_of_two_keys_out_of_one_request_the_first_counts(kept: Kept) -> None:
    kept.answered(1)
    kept.reported(1)
    kept.reported(1, replace(TIMES, key_ms=99))
    assert kept.key_ms() == [15]


def test_a_report_that_never_comes_costs_nothing(kept: Kept) -> None:
    for number in range(1, 3 * MAX_TRACES):
        kept.answered(number)
    assert len(kept.traces.latest(MAX_TRACES)) == MAX_TRACES
    assert kept.reported(1) is None  # forgotten
    assert set(kept.key_ms()) == {0}


def test_reports_of_requests_that_never_were_are_forgotten(kept: Kept) -> None:
    for number in range(1, 3 * MAX_TRACES):
        kept.reported(number)
    kept.answered(1)
    kept.answered(3 * MAX_TRACES - 1)
    assert kept.key_ms() == [0, 15]


def test_typed_through_has_a_trace_of_its_own_where_something_was_shown(kept: Kept) -> None:
    kept.reported(0, FrontTimes(key_ms=15, returned_ms=1, painted_ms=7))
    kept.reported(0, characters=0)
    (trace,) = kept.traces.latest(9)
    assert (trace.outcome, [stage.name for stage in trace.stages]) == ("from-cache", ["key", "returned", "painted"])


def test_a_fast_one_is_not_told_of(kept: Kept) -> None:
    kept.answered(1)
    kept.reported(1)
    assert kept.told == []


def test_a_slow_one_is_told_of_at_once_and_again_when_it_is_whole(kept: Kept) -> None:
    kept.answered(1, SLOW)
    kept.reported(1, replace(TIMES, engine_ms=210))
    first, second = kept.told
    assert first.time == second.time
    assert (first.total_ms, second.total_ms, second.shown_ms) == (200, 15 + 2 + 210 + 14, 85)
    assert [name for name, _ in json.loads(second.stages)] == [
        "key", "sent", "way to the engine", "queued", "last token", "trimmed", "returned", "painted",
    ]  # fmt: skip


def test_one_that_was_slow_outside_the_engine_is_told_of_when_that_is_known(kept: Kept) -> None:
    kept.answered(1)
    kept.reported(1, replace(TIMES, painted_ms=100))
    (record,) = kept.told
    assert record.total_ms == 15 + 2 + 54 + 7 + 100


def test_no_two_have_the_same_time(kept: Kept) -> None:
    for number in range(1, 4):
        kept.answered(number, SLOW)
    assert len({record.time for record in kept.told}) == 3
