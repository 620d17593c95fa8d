"""One question to the engine, with every way in which it can end. Knows nothing of documents or of what is shown."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from completion_server.errors import ForetypeError, Overloaded, RequestCancelled
from completion_server.protocol import MAX_ALTERNATIVES, Context, Decoding, Delta, Limits, Result
from lsp.engine_link import Engine, EngineLink
from lsp.place import Extent
from lsp.settings import Settings

INVOKED_WAIT = 10.0  # seconds that a person who asked by hand waits for an engine that loads
LONGEST_REQUEST = 30.0  # seconds; an engine that is silent for longer won't answer


@dataclass(frozen=True, slots=True)
class Reply:
    """`result` is there with the outcome "engine" alone."""

    outcome: Literal["engine", "loading", "unavailable", "superseded", "error"]
    result: Result | None = None


async def ask(
    link: EngineLink,
    context: Context,
    settings: Settings,
    on_delta: Callable[[Delta], None],
    *,
    on_sent: Callable[[], None],
    extent: Extent,
    invoked: bool,
) -> Reply:
    """Raises only `asyncio.CancelledError`; the engine hears of that. What goes beyond `extent` is not asked for.

    `on_sent` is called when there is an engine and the question is put. `invoked`: by hand, with alternatives.
    """
    engine = await _engine(link, context, invoked)
    if engine is None:
        return Reply("loading" if link.phase in ("starting", "loading", "unloaded") else "unavailable")
    lines = 1 if extent == "line" else settings.max_lines
    limits = Limits(settings.max_tokens, lines, one_statement=extent == "statement" and lines > 1)
    decoding = Decoding(drafting=settings.drafting)
    alternatives = MAX_ALTERNATIVES if invoked else 1
    on_sent()
    try:
        async with asyncio.timeout(LONGEST_REQUEST):
            result = await engine.complete(
                context, limits=limits, decoding=decoding, on_delta=on_delta, alternatives=alternatives
            )
    except RequestCancelled:
        return Reply("superseded")
    except (Overloaded, TimeoutError):
        return Reply("error")  # passes by itself
    except ForetypeError as error:
        link.failed(error)
        return Reply("error")
    link.worked()
    return Reply("engine", result)


async def _engine(link: EngineLink, context: Context, invoked: bool) -> Engine | None:
    if (engine := link.ready) is not None:
        return engine
    link.nudge(context)
    return await link.wait_ready(INVOKED_WAIT) if invoked else None
