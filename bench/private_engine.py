"""An engine of our own: nobody else's clients, nobody else's requests, ended with us.

It gets a runtime folder of its own, so that an engine which a user has running is neither used nor disturbed.
"""

import asyncio
import contextlib
import os
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from completion_server.client import EngineClient, connect
from completion_server.errors import EngineUnavailable, ModelError
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths
from completion_server.protocol import State, StatusReply

ANSWER_TIMEOUT = 60.0  # seconds until the process answers; it imports its libraries first
END_TIMEOUT = 10.0
REST = 1.0  # seconds within which a language server that wants to prefill says so
_PAUSE = 0.05


class PrivateEngine:
    """Use as `async with PrivateEngine(pair) as engine`: inside, the models are loaded.

    Its `environment` is for language servers that are to use it; the argument adds variables. `settings` are of the
    engine, by their keys. `command` replaces the engine's command line. Raises `EngineUnavailable` or `ModelError` with
    what the engine said if it does not get ready.
    """

    def __init__(
        self,
        pair: str,
        *,
        dtype: str = "auto",
        settings: Mapping[str, object] | None = None,
        command: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        on_state: Callable[[State], None] | None = None,
    ) -> None:
        serve = (sys.executable, "-m", "completion_server", "serve", "--pair", pair)
        self._command = command or (*serve, *(() if dtype == "auto" else ("--dtype", dtype)))
        # What a bench types is not what its user typed, and the port for metrics is that of the user's engine.
        given = {"numbers": False, "metrics_port": 0, **(settings or {})}
        self._settings = {f"FORETYPE_{key.upper()}": str(value) for key, value in given.items()}
        self._environment = environment or {}
        self._on_state = on_state
        self._stack = contextlib.AsyncExitStack()
        self._moved = asyncio.Event()
        self._completed = 0

    async def __aenter__(self) -> Self:
        # A short path: that of a socket may have about 100 bytes only.
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="foretype-bench-")))
        self._paths = RuntimePaths(folder / "run")
        given = {**self._environment, **self._settings}
        self.environment = {**os.environ, **given, RUNTIME_DIR_VARIABLE: str(self._paths.folder)}
        try:
            await self._start(folder / "log")
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @property
    def client(self) -> EngineClient:
        """A connection of our own, for what no language server asks."""
        return self._client

    async def status(self) -> StatusReply:
        return await self._client.status()

    async def settled(self) -> None:
        """Wait until the engine has answered something since the last call and has nothing to do, or `REST` is over.

        What a person takes to look at a file that was just opened: its prompt is prefilled meanwhile.
        """
        deadline = time.monotonic() + REST
        while True:
            status = await self._client.status()
            idle = not status.running and not status.queued
            if idle and (status.completed > self._completed or time.monotonic() > deadline):
                self._completed = status.completed
                return
            await asyncio.sleep(_PAUSE)

    async def _start(self, log: Path) -> None:
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                env=self.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self._stack.push_async_callback(_end, process)
        self._client = await self._connect(process, log)
        self._stack.push_async_callback(self._client.aclose)
        await self._wait_ready()

    async def _connect(self, process: Process, log: Path) -> EngineClient:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_TIMEOUT):
                while process.returncode is None:
                    if self._paths.folder.exists():
                        with contextlib.suppress(EngineUnavailable):
                            return await connect(name="bench", on_state=self._take_state, paths=self._paths)
                    await asyncio.sleep(_PAUSE)
        raise EngineUnavailable(f"the engine did not start: {_last_line(log)}")

    async def _wait_ready(self) -> None:
        self._tell(self._client.state)
        closed = asyncio.ensure_future(self._client.wait_closed())
        try:
            while self._client.state.phase not in ("ready", "failed") and not closed.done():
                moved = asyncio.ensure_future(self._moved.wait())
                await asyncio.wait([moved, closed], return_when=asyncio.FIRST_COMPLETED)
                moved.cancel()
                self._moved.clear()
        finally:
            closed.cancel()
        if self._client.state.phase == "failed":
            raise ModelError(self._client.state.detail)
        if self._client.closed:
            raise EngineUnavailable("the engine ended while it loaded its models")

    def _take_state(self, state: State) -> None:
        self._tell(state)
        self._moved.set()

    def _tell(self, state: State) -> None:
        if self._on_state is not None:
            self._on_state(state)


async def _end(process: Process) -> None:
    """Ask the process to end, then end it."""
    for ask in (process.terminate, process.kill):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            ask()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_TIMEOUT):
                await process.wait()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
