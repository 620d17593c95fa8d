"""`foretype pairs`: which models work together, which of them are loaded, and another pair for the engine that runs."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer

from completion_server.cli_engine import NONE_RUNS, loaded_pair, one_runs
from completion_server.cli_options import Json
from completion_server.errors import EngineUnavailable, SettingsError

if TYPE_CHECKING:
    from completion_server.protocol import PairInUse


def pairs() -> typer.Typer:
    """The command and what follows it."""
    app = typer.Typer(invoke_without_command=True)
    app.callback()(show)
    app.command("use")(use)
    return app


def use(name: Annotated[str, typer.Argument(help="A pair by name, see `foretype pairs`.")]) -> None:
    """Have the running engine use another pair. It goes on answering meanwhile; if that fails, with the old one."""
    from completion_server.folders import config_folder

    if not name:
        raise SettingsError("a pair has a name: see `foretype pairs`")
    try:
        answer = asyncio.run(_use(name))
    except EngineUnavailable:
        if one_runs():
            raise
        typer.echo(NONE_RUNS)
        typer.echo(
            f'to have engines begin with this pair, write pair = "{name}" below [engine] in '
            f"{config_folder() / 'config.toml'}"
        )
        raise typer.Exit(1) from None
    typer.echo(f"{answer.pair} is in use; no request could be answered for {answer.pause_ms:.0f} ms")


async def _use(name: str) -> "PairInUse":
    from completion_server.client import connect

    client = await connect(name="pairs")
    try:
        return await client.use_pair(name)
    finally:
        await client.aclose()


def show(context: typer.Context, as_json: Json = False) -> None:
    """All pairs by name, and which one the running engine has loaded; `pairs use NAME` has it load another."""
    if context.invoked_subcommand is not None:
        return
    from completion_server.pairs import load_pairs, user_pairs_file

    loaded = loaded_pair()
    named = load_pairs().values()
    if as_json:
        rows = [
            {
                "name": pair.name,
                "target": str(pair.target),
                "draft": None if pair.draft is None else str(pair.draft),
                "drafters": list(pair.drafters),
                "layout": pair.layout,
                "loaded": pair.name == loaded,
            }
            for pair in named
        ]
        typer.echo(json.dumps({"pairs": rows}))
        return
    rows_of_text = [("NAME", "TARGET", "DRAFT", "DRAFTERS", "LAYOUT", "")] + [
        (
            pair.name,
            str(pair.target),
            str(pair.draft or "-"),
            ", ".join(pair.drafters),
            pair.layout,
            "loaded" if pair.name == loaded else "",
        )
        for pair in named
    ]
    widths = [max(map(len, column)) for column in zip(*rows_of_text, strict=True)]
    for row in rows_of_text:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    typer.echo(f"\nYour own pairs go into {user_pairs_file()}")
