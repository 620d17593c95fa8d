"""The figures of one run as a table for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

_COLUMNS = {
    "n": "n",
    "shown": "shown",
    "exact_line": "exact",
    "edit_similarity": "like it",
    "precision": "of shown",
    "prefix_chars_mean": "prefix",
    "syntax_ok": "parses",
    "repeats_suffix": "repeats",
}
_OF_RAW = {"exact_line": "raw exact", "edit_similarity": "raw like it"}


def table(result: Mapping[str, Any]) -> Table:
    """One row for all cursors and for each kind and language, with the raw continuation's exact lines beside ours."""
    painted = Table(title=f"{result['n']} cursors in {result['files']} files with {result['pair']}")
    painted.add_column("cursors", no_wrap=True)
    for title in (*_COLUMNS.values(), *_OF_RAW.values()):
        painted.add_column(title.replace(" ", "\n"), justify="right")
    for name, figures in _rows(result):
        cells = [*(figures[key] for key in _COLUMNS), *(figures["raw"][key] for key in _OF_RAW)]
        painted.add_row(name, *map(_cell, cells))
    return painted


def _rows(result: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "all", result
    yield from result["by_kind"].items()
    yield from result["by_language"].items()


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
