"""How the way from a key to a suggestion is doing: what `foretype.status` answers. Asks, changes nothing."""

import asyncio
import os
from dataclasses import asdict, dataclass
from typing import Any

from completion_server import __version__
from completion_server.client import places
from completion_server.errors import ForetypeError
from completion_server.protocol import StatusReply
from lsp.engine_link import Engine, EngineLink
from lsp.figures import Figures
from lsp.totals import Totals

_LONGEST = 5.0  # seconds; an engine that answers later hangs


@dataclass(frozen=True, slots=True)
class Hop:
    """One station on the way, in one line for a person."""

    name: str
    ok: bool
    detail: str


async def condition(link: EngineLink, figures: Figures, totals: Totals, log_file: str | None) -> dict[str, Any]:
    """As docs/clients.md shows it."""
    try:
        paths = places()
        socket, engine_log = str(paths.socket), str(paths.log)
    except ForetypeError:
        socket = engine_log = ""  # the engine's hop says what is wrong
    return {
        **state_fields(link),
        **figure_fields(figures, totals),
        "today": totals.figures(),
        "problem": link.problem,
        "socket": socket,
        "engine_log": engine_log,
        "log": log_file,
        "hops": [asdict(hop) for hop in await _hops(link, figures)],
    }


def state_fields(link: EngineLink) -> dict[str, Any]:
    """Phase, pair, detail and fraction."""
    engine = link.connected
    if engine is None:
        return {"phase": link.phase, "pair": "", "detail": link.problem or "", "fraction": None}
    return asdict(engine.state)


def figure_fields(figures: Figures, totals: Totals) -> dict[str, Any]:
    return {"warm_ttft_ms": figures.warm_ttft_ms, "acceptance_today": totals.acceptance}


async def _hops(link: EngineLink, figures: Figures) -> list[Hop]:
    """Up to and with the first that is broken."""
    hops = [Hop("language server", True, f"foretype {__version__}, process {os.getpid()}")]
    engine = link.connected
    if engine is None:
        stopped = "it was stopped: run foretype.start"
        missing = link.problem or "no engine has answered yet"
        return [*hops, Hop("engine", False, stopped if link.phase == "stopped" else missing)]
    hops.append(Hop("engine", True, f"foretype {engine.version}, process {engine.pid}"))
    hops.append(await _models(engine))
    if hops[-1].ok:
        hops.append(_suggestions(link, figures))
    return hops


async def _models(engine: Engine) -> Hop:
    state = engine.state
    try:
        async with asyncio.timeout(_LONGEST):
            status = await engine.status()
    except (ForetypeError, TimeoutError) as error:
        return Hop("models", False, str(error) or "the engine does not answer: restart it")
    match state.phase:
        case "ready":
            return Hop("models", True, f"{state.pair}: {_described(status)}")
        case "unloaded":
            return Hop("models", True, f"{state.pair}: unloaded after a while without work, the next key loads them")
        case "failed":
            return Hop("models", False, state.detail or "they could not be loaded")
        case _:
            return Hop("models", False, f"{state.pair}: {state.detail or state.phase}, wait a moment")


def _described(status: StatusReply) -> str:
    draft = f" with {status.draft}" if status.draft else ""
    return f"{status.target}{draft} on {status.device} in {status.dtype}"


def _suggestions(link: EngineLink, figures: Figures) -> Hop:
    if link.problem is not None:
        return Hop("suggestions", False, link.problem)
    warm = figures.warm_ttft_ms
    speed = "" if warm is None else f", first tokens after {warm:g} ms (median, warm)"
    return Hop("suggestions", True, f"{figures.answered} answered{speed}")
