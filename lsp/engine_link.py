"""The one connection to the engine that this process keeps: made in the background, and made again after it broke.

Says each trouble once per outage, through `Reporter`, not once per key. Knows nothing of documents or LSP.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from completion_server.errors import EngineUnavailable, ForetypeError, RequestCancelled, RequestError
from completion_server.protocol import (
    Context,
    Decoding,
    Delta,
    Limits,
    PairInUse,
    Report,
    Result,
    State,
    StatusReply,
    Warmed,
)

logger = logging.getLogger(__name__)

FIRST_PAUSE = 0.1  # seconds before the second try
LONGEST_PAUSE = 30.0
FAILURES = 3  # failed requests in a row that a person is told of
QUICKEST_RETRY = 1.0  # a key may cut a pause short down to this
LONGEST_GOODBYE = 10.0  # seconds that an engine may take to end
COST_FACTOR = 5.0  # rest at least this many times as long as the try took that failed


STOPPED = "The engine was stopped; start it to get suggestions."


class Engine(Protocol):
    """What the link needs of a client: `completion_server.client.EngineClient`, and a fake in the tests."""

    state: State
    pid: int
    version: str

    @property
    def closed(self) -> bool: ...
    async def complete(
        self,
        context: Context,
        *,
        limits: Limits = ...,
        decoding: Decoding = ...,
        on_delta: Callable[[Delta], None] | None = ...,
        alternatives: int = ...,
    ) -> Result: ...
    async def warm(self, context: Context) -> Warmed: ...
    async def status(self) -> StatusReply: ...
    async def close_document(self, document: str) -> None: ...
    async def report(self, report: Report) -> None: ...
    async def use_pair(self, name: str) -> PairInUse: ...
    async def shutdown(self) -> None: ...
    async def aclose(self) -> None: ...
    async def wait_closed(self) -> None: ...


OnState = Callable[[State], None]
Connect = Callable[[OnState], Awaitable[Engine]]


class Reporter(Protocol):
    """Who tells a person. All messages are single lines without user text."""

    def state(self, state: State) -> None:
        """The engine's state changed."""

    def lost(self, message: str) -> None:
        """There is no connection; called after each try."""

    def trouble(self, message: str) -> None:
        """Something keeps suggestions from coming; called once per outage."""

    def recovered(self, message: str) -> None:
        """The trouble that was told is over."""


class EngineLink:
    """`connect` finds or starts an engine and returns as soon as it answers, while its models may still load."""

    def __init__(self, connect: Connect, reporter: Reporter, first_pause: float = FIRST_PAUSE) -> None:
        self._connect = connect
        self._reporter = reporter
        self._first_pause = first_pause
        self._engine: Engine | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._moved = asyncio.Event()  # set and replaced whenever the phase changes
        self.problem: str | None = None  # that a person was told of, until it is over
        self._was_ready = False
        self._failures = 0  # requests in a row
        self.halted = False  # by a person, who alone may start it again
        self._chores: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to look for an engine, in the background."""
        self.halted = False
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Hang up; the engine goes on for the next editor. Nothing looks for one until `start`."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait([keeper])

    async def shut_down(self) -> None:
        """End the engine's process, if there is one, for all editors, then `stop`."""
        engine = self._engine
        if engine is not None:
            with contextlib.suppress(TimeoutError, ForetypeError):
                async with asyncio.timeout(LONGEST_GOODBYE):
                    await engine.shutdown()
                    await engine.wait_closed()
        await self.stop()
        self.halted, self.problem = True, None
        self._reporter.lost(STOPPED)

    @property
    def ready(self) -> Engine | None:
        """An engine that answers a request without loading models first, else None."""
        engine = self._engine
        return engine if engine is not None and engine.state.phase == "ready" else None

    @property
    def connected(self) -> Engine | None:
        """An engine that answers, whatever its state."""
        return self._engine

    @property
    def phase(self) -> str:
        """The engine's phase; without one "unavailable", or "stopped" where a person wants none."""
        if self._engine is not None:
            return self._engine.state.phase
        return "stopped" if self.halted else "unavailable"

    async def wait_ready(self, seconds: float) -> Engine | None:
        """`ready`, after at most `seconds` of waiting for it; at once where loading has failed or nobody looks."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.ready is None and self.phase not in ("failed", "stopped"):
                    await self._moved.wait()
        return self.ready

    def nudge(self, context: Context) -> None:
        """A person wants a suggestion: try again soon, and have unloaded models loaded, for `context` first."""
        self._wake.set()
        if self._engine is not None and self._engine.state.phase == "unloaded":
            self._spawn(_warm(self._engine, context))

    def close_document(self, document: str) -> None:
        """Tell the engine, if there is one, without waiting for it."""
        if self._engine is not None:
            self._spawn(self._engine.close_document(document))

    def report(self, report: Report) -> bool:
        """Tell the engine, without waiting for it. False if there is none."""
        if self._engine is None:
            return False
        self._spawn(self._engine.report(report))
        return True

    def failed(self, error: ForetypeError) -> None:
        """A request failed. One alone is not worth a message to a person; several in a row are an outage."""
        self._failures += 1
        logger.warning("a request failed: %s", error.code)
        if self._failures >= FAILURES or not isinstance(error, RequestError | EngineUnavailable):
            self._tell(str(error))

    def worked(self) -> None:
        """A request succeeded, or could."""
        self._failures = 0
        if self.problem is not None:
            self.problem = None
            self._reporter.recovered("Suggestions work again.")

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        pause = self._first_pause
        while True:
            began, cost = loop.time(), 0.0
            try:
                engine = await self._connect(self._on_state)
            except Exception as error:
                # Whatever it is, it may pass, and nobody else would try again or say that nothing comes.
                cost = loop.time() - began
                self._lose(f"No suggestions: {_reason(error)}.")
            else:
                if await self._attend(engine):
                    pause = self._first_pause
            self._wake.clear()
            await self._rest(pause, COST_FACTOR * cost)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _attend(self, engine: Engine) -> bool:
        """Until the connection is over. Whether the engine was ready at any time."""
        self._engine, self._was_ready = engine, False
        self._on_state(engine.state)
        try:
            await engine.wait_closed()
        finally:
            self._engine = None
            if not engine.closed:
                await engine.aclose()
        if engine.state.phase == "stopping":
            # It ended on purpose, perhaps for want of work: none is started before somebody types again.
            self._reporter.lost("The engine has ended.")
            self._wake.clear()
            await self._wake.wait()
        else:
            self._lose("The engine has ended unexpectedly; suggestions come back when it runs again.")
        return self._was_ready

    async def _rest(self, pause: float, at_least: float) -> None:
        """A key ends the rest early, but not one after a try that was costly because it started a process."""
        at_least = max(at_least, min(pause, QUICKEST_RETRY))
        await asyncio.sleep(at_least)
        if pause > at_least:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), pause - at_least)

    def _on_state(self, state: State) -> None:
        self._reporter.state(state)
        if state.phase == "failed":
            self._tell(state.detail or "The engine could not load its models.")
        elif state.phase == "ready":
            self._was_ready = True
            self.worked()
        self._moved.set()
        self._moved = asyncio.Event()

    def _lose(self, message: str) -> None:
        self._reporter.lost(message)
        self._tell(message)

    def _tell(self, message: str) -> None:
        if self.problem is None:
            self.problem = message
            self._reporter.trouble(message)

    def _spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(_quietly(work))
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)


def _reason(error: Exception) -> str:
    """For a person. The text of an error that is none of ours could be anything, so its type must do."""
    if isinstance(error, ForetypeError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    logger.error("looking for the engine failed: %s", type(error).__name__)
    return f"the engine could not be looked for ({type(error).__name__})"


async def _warm(engine: Engine, context: Context) -> None:
    await engine.warm(context)


async def _quietly(work: Awaitable[None]) -> None:
    try:
        await work
    except (EngineUnavailable, RequestCancelled):
        pass
    except ForetypeError as error:
        logger.warning("the engine refused a message: %s", error.code)
