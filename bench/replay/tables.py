"""The report of a replay for a person: one row for each figure, and one for each number of editors."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table


def tables(result: Mapping[str, Any]) -> list[Table]:
    if "by_editors" in result:
        return [_curve(result)]
    table = Table(title=f"{result['keystrokes']} keys with {result['pair']}, pace {result['pace']}", show_header=False)
    for name, value in result.items():
        table.add_row(name, _cell(value))
    if not result["keystrokes"] and "warm_up" in result:
        table.caption = f"No key came behind the warm-up of {result['warm_up']}; --warm-up 0 counts all."
    return [table]


def _curve(result: Mapping[str, Any]) -> Table:
    columns = ("editors", "key → suggestion, p50", "p95", "p99", "first text, p95", "goodput", "superseded", "failed")
    table = Table(*columns, title=f"{result['pair']} on {result['device']} ({result['dtype']})")
    for count, figures in result["by_editors"].items():
        whole, first = figures["keystroke_to_suggestion_ms"], figures["ttft_ms"]
        times = (_ms(value) for value in (*whole.values(), first["p95"]))
        table.add_row(count, *times, *(_cell(figures[name]) for name in columns[5:]))
    table.caption = f"{result['knee']['reason']}\nKnee: {result['knee']['rule']}"
    return table


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} ms"


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return "  ".join(f"{key} {_cell(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    return "–" if value is None else str(value)
