"""The page of measurements as Markdown: for each bench its command and its figures, groups of them as tables.

Pure. It knows no bench: a mapping of mappings becomes a table of its own, and figures are rounded to four digits.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_HEAD = (
    "# Measurements",
    "",
    "Written by `python -m bench.publish` from the JSON in [measurements/](measurements/); figures are rounded to four",
    "digits. Absolute times are this machine's and vary by a third from run to run; ratios are from one run. Times in",
    "a cell with two slashes are p50 / p95 / p99. STDLIB is the folder of Python's standard library. Nothing here was",
    "measured on a GPU.",
)
_PERCENTILES = ("p50", "p95", "p99")


def page(results: Mapping[str, Mapping[str, Any]], commands: Mapping[str, str]) -> Iterator[str]:
    """The lines of the page for `results`, in the order of `commands`; a result without a command is left out."""
    yield from _HEAD
    if machine := results.get("machine"):
        yield from ("", f"Machine: {', '.join(map(str, machine.values()))}.")
    for name, command in commands.items():
        if name in results:
            yield from ("", f"## {name}", "", f"    {command}")
            yield from _figures(results[name])


def _figures(result: Mapping[str, Any]) -> Iterator[str]:
    groups = {key: value for key, value in result.items() if _is_group(value)}
    single = {key: value for key, value in result.items() if key not in groups}
    for key, group in groups.items():
        single |= {f"{key}.{name}": value for name, value in group.items() if not isinstance(value, Mapping)}
    yield from _table(["figure", "value"], [[key, _cell(value)] for key, value in single.items()])
    for key, group in groups.items():
        rows = {name: row for name, row in group.items() if isinstance(row, Mapping)}
        columns = list(dict.fromkeys(name for row in rows.values() for name in row))
        yield from ("", f"### {key}")
        yield from _table(["", *columns], [[name, *(_cell(row.get(c)) for c in columns)] for name, row in rows.items()])


def _is_group(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(item, Mapping) for item in value.values())


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield from ("", _row(head), "|---" * len(head) + "|")
    yield from map(_row, rows)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        if tuple(value) == _PERCENTILES:
            return " / ".join(map(_cell, value.values()))
        return "; ".join(f"{key}: {_within(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1_000 else f"{value:.4g}"
    return "–" if value is None else str(value)


def _within(value: Any) -> str:
    return f"({_cell(value)})" if isinstance(value, Mapping) else _cell(value)
