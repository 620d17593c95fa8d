"""Where a client says when the key was, everything begins there: the trace, the store, the histogram.

A request costs the engine 90 ms by the script of `conftest`; all else is real.
"""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from completion_server.client import connect
from completion_server.numbers.summary import figures
from completion_server.protocol import Trace

HISTOGRAM = "keystroke_to_suggestion_seconds"


async def latest(count: int) -> list[Trace]:
    client = await connect(name="status")
    try:
        return list((await client.status(count)).traces)
    finally:
        await client.aclose()


async def test_from_the_key_to_the_paint(recorded: Any) -> None:
    async with recorded() as places, places.person() as person:
        suggestion = await person.line("accept = ")
        person.says(suggestion, "painted", keyMs=600, replyMs=60, paintMs=40)
        found = await places.metrics_when(lambda found: f"{HISTOGRAM}_count{{}}" in found)
        (trace,) = await latest(9)
    assert found[f"{HISTOGRAM}_sum{{}}"] == pytest.approx(0.66)
    assert found[f"{HISTOGRAM}_bucket{{le=0.8}}"] == 1
    assert f"{HISTOGRAM}_bucket{{le=0.5}}" not in found
    assert figures(places.store)["keystroke_to_suggestion_ms"]["p50"] == pytest.approx(660)

    first, *_, last = trace.stages
    assert (first.name, first.ms, last.name, last.ms) == ("key", 600, "painted", 40)
    names = [stage.name.partition(":")[0] for stage in trace.stages]
    engine = ["queued", "tokenized", "prefix matched", "round 1", "round 2", "round 3", "last token"]
    assert [name for name in names if name in engine] == engine
    assert {"way to the server", "sent", "trimmed", "returned"} < set(names)
    assert trace.shown_ms == pytest.approx(700)
    with closing(sqlite3.connect(places.store)) as connection:
        (row,) = connection.execute("SELECT total_ms, shown_ms, stages FROM traces").fetchall()
    assert row[:2] == (trace.total_ms, trace.shown_ms)
    assert [name for name, _ in json.loads(row[2])] == [stage.name for stage in trace.stages]


async def test_a_client_that_says_nothing_still_gives_a_trace(recorded: Any) -> None:
    async with recorded() as places, places.person() as person:
        await person.line("accept = ")
        found = await places.metrics_when(lambda found: f"{HISTOGRAM}_count{{}}" in found)
        (trace,) = await latest(9)
    assert found[f"{HISTOGRAM}_sum{{}}"] < 0.6
    assert (trace.stages[0].name, trace.stages[-1].name) == ("sent", "returned")


async def test_what_was_typed_through_never_met_the_engine(recorded: Any) -> None:
    async with recorded() as places, places.person() as person:
        suggestion = await person.line("typed = ")
        assert await person.types_through(suggestion) == ["from-cache", "from-cache", "from-cache", "empty"]
        await places.metrics_when(lambda found: found["keystrokes_total{language=plaintext,outcome=from-cache}"] == 3)
        traces = await latest(9)
    through = [trace for trace in traces if trace.outcome == "from-cache"]
    assert [[stage.name for stage in trace.stages] for trace in through] == [["returned"]] * 3
