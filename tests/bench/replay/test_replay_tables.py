"""What a person reads of a replay."""

import io
from typing import Any

from rich.console import Console

from bench.replay.tables import tables


def told(**figures: Any) -> str:
    out = io.StringIO()
    result = {"keystrokes": 3, "pair": "p", "pace": "trace", "warm_up": 20, **figures}
    Console(file=out, width=100).print(*tables(result))
    return " ".join(out.getvalue().split())


def test_what_was_not_measured_is_a_dash() -> None:
    text = told(ttft_ms={"p50": 12.5, "p95": None}, goodput=None, drafters=["tail", "model"])
    assert "p50 12.5 p95 –" in text
    assert "goodput │ –" in text
    assert "tail, model" in text
    assert "None" not in text
    assert "warm-up" not in text


def test_a_trace_shorter_than_the_warm_up_says_so() -> None:
    assert "No key came behind the warm-up of 20; --warm-up 0 counts all." in told(keystrokes=0)
