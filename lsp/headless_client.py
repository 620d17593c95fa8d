"""pygls' client for an editor without a screen, made safe. Knows nothing of documents or suggestions."""

import asyncio
import contextlib
from collections.abc import Callable
from itertools import count
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from completion_server.errors import EngineUnavailable

STOP_TIMEOUT = 5.0  # seconds for the server to end by itself


class HeadlessClient(LanguageClient):
    """pygls' client, made safe: standard error is read, and a server that ended is an error with its last words."""

    def __init__(self) -> None:
        super().__init__("foretype-headless", "1")
        self._ids = count(1)
        self._last_words = ""
        self._reading: asyncio.Task[None] | None = None

    def listen(self, method: str, callback: Callable[[Any], None]) -> None:
        """Have `callback` called with the parameters of each notification `method`."""

        def heard(params: Any) -> None:  # a function of its own, because pygls writes attributes on it
            callback(params)

        self.feature(method)(heard)

    async def start_io(self, cmd: str, *args: str, **kwargs: Any) -> None:
        await super().start_io(cmd, *args, **kwargs)
        self._reading = asyncio.create_task(self._read_errors())

    async def request(self, method: str, params: Any) -> tuple[str, Any]:
        """Send a request; its id and its result. Raises `EngineUnavailable` if the server has ended.

        Cancelling the task that awaits this cancels the request in the server.
        """
        request = f"h{next(self._ids)}"
        try:
            self.check_alive()
            reply = asyncio.wrap_future(self.protocol.send_request(method, params, msg_id=request))
            reply.add_done_callback(_retrieve)
            return request, await asyncio.shield(reply)  # pygls stumbles over the reply if its own future is cancelled
        except asyncio.CancelledError:
            self.cancel_request(types.CancelParams(request))
            raise
        except (RuntimeError, EngineUnavailable):  # the first is how pygls says that the server has ended
            await self._read_to_end()
            self.check_alive()
            raise

    def check_alive(self) -> None:
        """Raises `EngineUnavailable` if the server has ended."""
        if self._server is None or self._server.returncode is not None:
            raise EngineUnavailable(f"the language server has ended: {self._last_words or 'it said nothing'}")

    async def end(self) -> None:
        """Have the server end, or end it."""
        server = self._server
        if server is None:
            return
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await self.request(types.SHUTDOWN, None)
                self.exit(None)
                await server.wait()
        except (TimeoutError, OSError, JsonRpcException, EngineUnavailable):
            with contextlib.suppress(ProcessLookupError):
                server.kill()
        await self.stop()  # type: ignore[no-untyped-call]
        await self._read_to_end()

    async def _read_to_end(self) -> None:
        if self._reading is not None:
            await asyncio.wait([self._reading], timeout=STOP_TIMEOUT)

    async def _read_errors(self) -> None:
        if self._server is None or self._server.stderr is None:
            return
        async for line in self._server.stderr:
            self._last_words = line.decode(errors="replace").strip() or self._last_words


def _retrieve(reply: asyncio.Future[Any]) -> None:
    """Look at how a request ended, or asyncio complains about those that nobody waited for to the end."""
    if not reply.cancelled():
        reply.exception()
