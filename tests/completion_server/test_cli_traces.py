"""Bars that a person can compare."""

import io

from rich.console import Console

from completion_server.cli_traces import slowest, table
from completion_server.protocol import Stage, Trace


def shown(*traces: Trace) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=120).print(table(traces, width=20))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def trace(*stages: tuple[str, float], outcome: str = "completed") -> Trace:
    return Trace(2.0, "lsp", "go", outcome, sum(ms for _, ms in stages), tuple(Stage(*stage) for stage in stages))


def test_all_bars_have_one_scale_and_the_slowest_stage_a_name() -> None:
    assert shown(trace(("queued", 10), ("prompt", 30)), trace(("queued", 20), ("round 1: no draft, width 1", 60))) == [
        "ago ms request slowest",
        f"2 s 40 lsp go completed {'█' * 10} prompt (30 ms)",
        f"2 s 80 lsp go completed {'█' * 20} round 1: no draft, width 1 (60 ms)",
    ]


def test_a_request_that_took_no_time_has_no_bar() -> None:
    assert shown(trace(outcome="failed"))[1] == "2 s 0 lsp go failed"


def test_without_stages_none_is_the_slowest() -> None:
    assert slowest(()) == ""
