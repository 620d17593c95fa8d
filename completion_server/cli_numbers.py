"""`foretype stats` and `dashboard`: the numbers so far, from the store. No engine needs to run."""

import json
import re
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from completion_server.cli_options import Json
from completion_server.errors import SettingsError

if TYPE_CHECKING:
    from rich.table import Table

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}


class Group(StrEnum):
    language = "language"
    pair = "pair"
    editor = "editor"
    day = "day"


class Form(StrEnum):
    csv = "csv"
    parquet = "parquet"


def stats(
    since: Annotated[str, typer.Option(help="How far back: 90m, 24h, 7d, 4w, or all.")] = "7d",
    by: Annotated[Group | None, typer.Option(help="The same for each language, pair, editor or day.")] = None,
    as_json: Json = False,
    export: Annotated[Form | None, typer.Option(help="Write the rows themselves, one file a table.")] = None,
    out: Annotated[Path, typer.Option(help="Folder that --export writes to.")] = Path("foretype-numbers"),
) -> None:
    """Numbers so far: suggestions accepted, how long keys waited, what drafting gained. Kept on this machine alone."""
    from completion_server.folders import numbers_file
    from completion_server.numbers.summary import figures

    begin = _begin(since)
    if export is not None:
        from completion_server.numbers.export import write

        for file in write(numbers_file(), out, export.value, since=begin):
            typer.echo(file)
        return
    found = figures(numbers_file(), since=begin, by=None if by is None else by.value)
    if as_json:
        typer.echo(json.dumps(found))
    else:
        _show(found, None if by is None else by.value)


def dashboard(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port on loopback; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Show the numbers on a local page, live while you type. Ctrl-C ends it."""
    from completion_server.dashboard.serve import serve
    from completion_server.folders import numbers_file

    serve(numbers_file(), port, browse=browser, tell=lambda address: typer.echo(f"{address}  (Ctrl-C ends it)"))


def _begin(since: str) -> float:
    """Unix seconds. Raises SettingsError for what is no stretch of time."""
    if since == "all":
        return 0.0
    match = re.fullmatch(r"(\d{1,6})([smhdw])", since)
    if match is None:
        raise SettingsError(f"--since cannot be {since[:20]!r}; allowed: a number with s, m, h, d or w (7d), or all")
    return time.time() - int(match[1]) * _UNITS[match[2]]


def _show(found: dict[str, Any], by: str | None) -> None:
    from rich.console import Console

    from completion_server.numbers.summary import FIRST_TOKENS_MS, SUGGESTION_MS

    groups = found.get("groups", {})
    columns = {"all": found, **groups}
    console = Console()
    console.print(_table(columns, by))
    console.print(
        f"ms: p50 / p95 / p99 of what the engine answered; in time: first text within {FIRST_TOKENS_MS:.0f} ms and all"
        f" within {SUGGESTION_MS:.0f} ms, what was typed through among it",
        style="dim",
        highlight=False,
    )


def _table(columns: dict[str, dict[str, Any]], by: str | None) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(by or "")
    for name in columns:
        table.add_column(name or "–", justify="right")
    for label, read in _LINES:
        table.add_row(label, *(_cell(read(figures)) for figures in columns.values()))
    return table


def _percentiles(name: str) -> Any:
    def read(figures: dict[str, Any]) -> str | None:
        values = figures.get(name)
        if values is None or values["p50"] is None:
            return None
        return " / ".join(f"{values[share]:.0f}" for share in ("p50", "p95", "p99"))

    return read


def _share(name: str) -> Any:
    def read(figures: dict[str, Any]) -> str | None:
        value = figures.get(name)
        return None if value is None else f"{100 * value:.1f} %"

    return read


def _rounded(name: str) -> Any:
    def read(figures: dict[str, Any]) -> str | None:
        value = figures.get(name)
        return None if value is None else f"{value:.2f}"

    return read


def _plain(name: str) -> Any:
    return lambda figures: figures.get(name)


def _cell(value: Any) -> str:
    return "–" if value is None else str(value)


_LINES = (
    ("keys", _plain("keystrokes")),
    ("suggestions shown", _plain("shown")),
    ("accepted", _plain("accepted")),
    ("accepted in part", _plain("partly_accepted")),
    ("typed through", _plain("typed_through")),
    ("accepted of shown", _share("suggestion_acceptance_rate")),
    ("by characters", _share("character_acceptance_rate")),
    ("there after 2 min", _share("persistence_2min")),
    ("key to suggestion, ms", _percentiles("keystroke_to_suggestion_ms")),
    ("first text, ms", _percentiles("ttft_ms")),
    ("in time", _share("goodput")),
    ("prompt tokens cached", _share("cached_token_ratio")),
    ("drafted tokens accepted", _share("draft_acceptance_rate")),
    ("tokens a pass", _rounded("acceptance_length")),
    ("tokens wasted", _plain("wasted_tokens")),
)
