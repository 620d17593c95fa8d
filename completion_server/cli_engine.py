"""`foretype status`, `stop` and `doctor`: about the engine that runs."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from completion_server.cli_options import Draft, Json, Pair, Target
from completion_server.errors import EngineUnavailable, ForetypeError

if TYPE_CHECKING:
    from completion_server.protocol import StatusReply

NONE_RUNS = "no engine is running; an editor starts one, and so does `foretype serve`"


def status(
    as_json: Json = False,
    last: Annotated[
        int, typer.Option(min=0, max=100, help="Show where the time of the last so many requests went, as bars.")
    ] = 0,
) -> None:
    """What runs: process, models, device, memory. Exit code 1 if no engine runs."""
    reply = engine_status(last)
    if reply is None:
        _end_because_none_runs(as_json)
    if last and not as_json:
        _show_traces(reply)
        return
    facts = asdict(reply)
    del facts["id"]
    if not last:
        del facts["traces"]
    state = facts.pop("state")
    _show({"engine": True, "state": state, **facts} if as_json else {**state, **facts}, as_json)


def stop() -> None:
    """End the engine; what it is working on is answered as cancelled."""
    try:
        pid = asyncio.run(_stop())
    except EngineUnavailable:
        if one_runs():
            raise
        typer.echo("no engine is running")
        return
    typer.echo(f"engine {pid} ended")


def doctor(pair: Pair = None, target: Target = None, draft: Draft = None) -> None:
    """Find out what is wrong: follows the way to a suggestion and stops at the first broken hop (exit code 1)."""
    from completion_server.doctor import examine

    for hop in examine({"pair": pair, "target": target, "draft": draft}):
        typer.echo(f"{'ok    ' if hop.ok else 'BROKEN'}  {hop.name}: {hop.detail}")
        if not hop.ok:
            if hop.remedy:
                typer.echo(f"        what to do: {hop.remedy}")
            raise typer.Exit(1)


def engine_status(last: int = 0) -> "StatusReply | None":
    """What the running engine says of itself, None if none runs, with traces of the `last` so many requests.

    Raises what keeps one that runs from answering.
    """
    try:
        return asyncio.run(_ask(last))
    except EngineUnavailable:
        if one_runs():
            raise
        return None


def loaded_pair() -> str | None:
    """The pair that the running engine has loaded; None as well where it cannot be asked."""
    try:
        status = engine_status()
    except ForetypeError:
        return None
    return status.state.pair if status is not None and status.state.phase == "ready" else None


def one_runs() -> bool:
    """Whether an engine's process is there, be it one that does not answer."""
    from completion_server.instance import find_running
    from completion_server.paths import runtime_paths

    return find_running(runtime_paths()) is not None


async def _ask(last: int) -> "StatusReply":
    from completion_server.client import connect

    client = await connect(name="status")
    try:
        return await client.status(last)
    finally:
        await client.aclose()


async def _stop() -> int:
    from completion_server.client import connect

    client = await connect(name="stop")
    try:
        await client.shutdown()
        await client.wait_closed()
        return client.pid
    finally:
        await client.aclose()


def _show(facts: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        # Notes are sentences: each has its own line.
        for shown in value if name == "notes" else (_for_a_person(value),):
            if shown:
                typer.echo(f"{name.replace('_', ' '):<16} {shown}")


def _show_traces(reply: "StatusReply") -> None:
    from rich.console import Console

    from completion_server.cli_traces import shown

    if reply.traces:
        console = Console()
        console.print(shown(reply.traces, console.width))
    else:
        typer.echo("no request was answered yet")


def _for_a_person(value: Any) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.1f}"
        case tuple() | list():
            return ", ".join(map(str, value))
        case _:
            return str(value)


def _end_because_none_runs(as_json: bool) -> NoReturn:
    typer.echo(json.dumps({"engine": False}) if as_json else NONE_RUNS)
    raise typer.Exit(1)
