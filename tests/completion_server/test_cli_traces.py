"""Bars that a person can compare."""

import io

import pytest
from rich.console import Console

from completion_server.cli_traces import shown, slowest, table
from completion_server.protocol import Stage, Trace


def lines(*traces: Trace, width: int = 120) -> list[str]:
    """Of a table whose longest bar is twenty columns."""
    out = io.StringIO()
    Console(file=out, width=width).print(table(traces, width=20))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def trace(*stages: tuple[str, float], outcome: str = "completed", shown_ms: float = 0.0) -> Trace:
    total = sum(ms for _, ms in stages)
    return Trace(2.0, "lsp", "go", outcome, total, tuple(Stage(*stage) for stage in stages), shown_ms)


def test_all_bars_have_one_scale_and_the_slowest_stage_a_name() -> None:
    short = trace(("queued", 10), ("tokenized", 30))
    long = trace(("queued", 20), ("round 1: no draft, width 1", 60), shown_ms=70)
    assert lines(short, long) == [
        "ago ms shown request slowest",
        f"2 s 40 lsp go completed {'█' * 10} tokenized (30 ms)",
        f"2 s 80 70 lsp go completed {'█' * 20} 1 round (60 ms)",
    ]


def test_a_bar_shows_whose_turn_it_was() -> None:
    whole = trace(
        ("key", 2), ("way to the server", 2), ("sent", 2), ("way to the engine", 2), ("queued", 2), ("round 1: …", 4),
        ("last token", 1), ("trimmed", 2), ("returned", 1), ("painted", 2),
    )  # fmt: skip
    assert "▒▒░░▓▓░░███████▓▓▓▒▒" in lines(whole)[1]


def test_stages_too_short_for_a_column_push_nothing() -> None:
    """a hundred of them take the room that they took in time"""
    many = trace(*((f"round {number}: …", 0.1) for number in range(100)), ("painted", 10))
    assert f"{'█' * 10}{'▒' * 10}" in lines(many)[1]


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_it_fits_into_the_terminal(width: int) -> None:
    out = io.StringIO()
    traces = [trace(("way to the engine", 12_345.0), outcome="superseded", shown_ms=12_345.0)] * 2
    Console(file=out, width=width).print(shown(traces, width))
    *_, legend = out.getvalue().splitlines()
    assert max(map(len, out.getvalue().splitlines())) <= width
    assert width < 60 or legend.startswith("▒ editor  ░ way  ▓ server")


def test_a_request_that_took_no_time_has_no_bar() -> None:
    assert lines(trace(outcome="failed"))[1] == "2 s 0 lsp go failed"


def test_without_stages_none_is_the_slowest() -> None:
    assert slowest(()) == ""


def test_rounds_are_slow_together() -> None:
    """none of them took as long as the prefill"""
    many = trace(("prefill", 40), ("round 1: n-gram 0/4, width 5", 30), ("round 2: no draft, width 1", 20))
    assert slowest(many.stages) == "2 rounds (50 ms)"
