"""`foretype bench`: pairs side by side on the user's own code, as a report, as JSON, and as an exit code."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from completion_server.cli_options import Json
from completion_server.errors import SettingsError

if TYPE_CHECKING:
    from bench.compare.command import Outcome

INTERRUPTED = 130


def bench(
    pairs: Annotated[
        str,
        typer.Option(
            help="Pairs, with commas between: names as in `foretype pairs`, with :n-gram behind one to leave its draft "
            "model out, with :target-only to leave all drafting out."
        ),
    ],
    files: Annotated[list[str], typer.Option(help="Files to type in, as a glob with ** for any folders; repeatable.")],
    keys: Annotated[int, typer.Option(min=1, help="Keys to type with each pair.")] = 400,
    cursors: Annotated[int, typer.Option(min=1, help="Cursors at which each pair suggests.")] = 100,
    prompts: Annotated[int, typer.Option(min=1, help="Texts that each pair goes on from, for decoding speed.")] = 12,
    seed: Annotated[int, typer.Option(help="Chooses the places.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")] = Path("foretype-bench"),
    without: Annotated[list[str] | None, typer.Option(help="Leave out replay, quality or engine; repeatable.")] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help="Exit with 1 if this holds, as 'ttft_p95_ms>80' or 'PAIR:goodput<0.8'; repeatable."),
    ] = None,
    one_by_one: Annotated[
        bool, typer.Option("--one-by-one", help="Load one pair at a time, where there is no room for all.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare pairs on your own code: latency, quality and speed, as one page to read and JSON to compute with.

    Every pair types the same keys, stands at the same cursors and goes on from the same texts, in turns. Ctrl-C keeps
    what is done. Exit code 1: a condition of --fail-if holds, or a pair could not be measured.
    """
    try:
        from bench.compare.command import Options, compare
        from bench.compare.plan import Amount
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"this needs the bench extra ({error.name} is missing): pip install 'foretype[bench]'"
        ) from None
    from rich.console import Console
    from rich.progress import Progress

    amount = Amount(keys, cursors, prompts, seed)
    options = Options(pairs, tuple(files), out, amount, tuple(without or ()), tuple(fail_if or ()), one_by_one)
    console = Console(stderr=True)
    try:
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            outcome = compare(options, progress)
    except ValueError as error:  # no place to type at, or no text
        raise SettingsError(str(error)) from None
    _show(outcome, as_json)
    raise typer.Exit(_code(outcome))


def _show(outcome: "Outcome", as_json: bool) -> None:
    found = outcome.result
    if found is None:
        return
    if as_json:
        typer.echo(json.dumps(found))
        return
    typer.echo(found["best"]["sentence"])
    for name, pair in found["pairs"].items():
        if pair["failure"]:
            typer.echo(f"{name} took no part: {pair['failure']}")
    for held in found["conditions"]:
        typer.echo(f"condition failed: {held}")
    typer.echo(str(outcome.report))


def _code(outcome: "Outcome") -> int:
    if outcome.interrupted:
        return INTERRUPTED
    found = outcome.result or {"pairs": {}, "conditions": []}
    return int(bool(found["conditions"]) or any(pair["failure"] for pair in found["pairs"].values()))
