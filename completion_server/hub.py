"""Messages between the connections of many clients and one backend.

Knows nothing of processes and their end (see `server`), and nothing of models.
"""

import asyncio
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from completion_server import __version__
from completion_server.backend import Backend
from completion_server.connection import Connection
from completion_server.errors import Overloaded, ProtocolError
from completion_server.numbers.recorder import Recorder
from completion_server.peer import same_user
from completion_server.protocol import (
    PROTOCOL_VERSION,
    Cancel,
    Cancelled,
    CloseDocument,
    Complete,
    EngineMessage,
    Error,
    Goodbye,
    Message,
    Report,
    Shutdown,
    State,
    Status,
    StatusReply,
    Usage,
    UsePair,
    Warm,
    Welcome,
)
from completion_server.protocol.bounds import MAX_LINE
from completion_server.protocol.frames import MAX_FRAME

logger = logging.getLogger(__name__)

MAX_CLIENTS: Final = 64
MAX_TURNED_AWAY: Final = 64
"""Clients at a time that are told that there are too many; more are hung up on."""

STOP_TIMEOUT: Final = 3.0
"""Seconds that the backend has to answer what is open."""

_HANG_UP_TIMEOUT: Final = 1.0


class Hub:
    """Connections on one side, a backend on the other; `recorder` hears of what is answered.

    All methods belong to the event loop's thread.
    """

    def __init__(self, backend: Backend, recorder: Recorder | None = None) -> None:
        self._backend = backend
        self._recorder = recorder or Recorder(())
        self._started = time.monotonic()
        self._last_message = self._started
        self._listener: asyncio.Server | None = None
        self._clients = 0  # ever, which numbers them
        self._connections: dict[int, Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turned_away: set[asyncio.Task[None]] = set()
        self._shutdowns: dict[int, set[int]] = {}  # client → ids of its Shutdown requests
        self._end = asyncio.Event()
        self._stopping = False

    async def start(self, listener: socket.socket) -> None:
        """Accept clients, then let the backend load."""
        self._listener = await asyncio.start_unix_server(self._accept, sock=listener, limit=MAX_FRAME)
        loop = asyncio.get_running_loop()
        self._backend.start(lambda state: _soon(loop, self._announce, state))

    def end(self, why: str) -> None:
        """Ask for the end; `wait_for_end` returns."""
        if not self._end.is_set():
            logger.info("ending: %s", why)
            self._end.set()

    async def wait_for_end(self) -> None:
        await self._end.wait()

    async def stop(self) -> None:
        """Answer what is open, hang up and stop the backend. Takes a bounded time; a second call does nothing."""
        if self._stopping:
            return
        self._stopping = True
        if self._listener is not None:
            self._listener.close()
        await _stop_backend(self._backend)
        connections = tuple(self._connections.values())
        for connection in connections:
            connection.cancel_open(spare=self._shutdowns.get(connection.number, ()))
        for number, requests in self._shutdowns.items():
            for request in requests:
                if number in self._connections:
                    self._connections[number].reply(Goodbye(request))
        await asyncio.gather(*(connection.close(_HANG_UP_TIMEOUT) for connection in connections))
        tasks = self._tasks | self._turned_away
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def useless(self) -> bool:
        """Whether the models could not be loaded."""
        return self._backend.state.phase == "failed"

    def idle_seconds(self) -> float:
        """Since the last request ended or the last message came."""
        return min(self._backend.idle_seconds(), time.monotonic() - self._last_message)

    # -- one client ------------------------------------------------------------------------------------------------

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        full = len(self._tasks) >= MAX_CLIENTS
        if not same_user(writer.get_extra_info("socket")) or (full and len(self._turned_away) >= MAX_TURNED_AWAY):
            logger.warning("a connection was refused: %d clients, or another user's process", len(self._tasks))
            writer.transport.abort()
            return
        self._clients += 1
        connection = Connection(self._clients, reader, writer)
        tasks = self._turned_away if full else self._tasks
        task = asyncio.create_task(self._turn_away(connection) if full else self._attend(connection))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _turn_away(self, connection: Connection) -> None:
        """After its hello: a client whose own first write fails would not read why."""
        logger.warning("client %d refused: %d are connected", connection.number, len(self._tasks))
        why = f"{MAX_CLIENTS} clients are connected to the engine: close an editor, or end process {os.getpid()}"
        try:
            await connection.greet(lambda: Error(id=0, code=Overloaded.code, message=why))
        finally:
            await connection.close(_HANG_UP_TIMEOUT)

    async def _attend(self, connection: Connection) -> None:
        try:
            if not await connection.greet(self._welcome):
                return
            self._connections[connection.number] = connection
            logger.info("client %d (%s) connected", connection.number, connection.name)
            while (received := await connection.receive()) is not None:
                self._last_message = time.monotonic()
                self._take(connection, *received)
        finally:
            if self._connections.pop(connection.number, None) is not None:
                self._backend.disconnect(connection.number)
                logger.info("client %d (%s) left", connection.number, connection.name)
            await connection.close(_HANG_UP_TIMEOUT)

    def _take(self, connection: Connection, message: Message, received: float) -> None:
        request = message.id if isinstance(message, Complete | Warm | Status | UsePair | Shutdown) else 0
        if request and not connection.open(request):
            return
        try:
            self._dispatch(connection, message, received)
        # Whatever one message causes, it costs that request alone.
        except Exception as error:
            logger.error("%s of client %d failed: %s", type(message).__name__, connection.number, type(error).__name__)
            connection.fail(request, error)

    def _dispatch(self, connection: Connection, message: Message, received: float) -> None:
        match message:
            case Complete() | Warm() | UsePair() if self._stopping:
                connection.reply(Cancelled(message.id, reason="shutdown", usage=Usage()))
            case Complete() | Warm():
                loop = asyncio.get_running_loop()

                def answer(reply: EngineMessage) -> None:
                    if isinstance(message, Complete):
                        pair = self._backend.state.pair
                        self._recorder.answered(connection.name, pair, message, reply, connection=connection.number)
                    _soon(loop, connection.reply, reply)

                self._backend.submit(connection.number, message, received, answer)
            case UsePair():
                loop = asyncio.get_running_loop()
                self._backend.use_pair(message, lambda reply: _soon(loop, connection.reply, reply))
            case Cancel(id=request):
                self._backend.cancel(connection.number, request)
            case CloseDocument(document=document):
                self._backend.close_document(connection.number, document)
            case Report():
                pair = self._backend.state.pair
                self._recorder.reported(pair, message, client=connection.name, connection=connection.number)
            case Status():
                connection.reply(self._status(message))
            case Shutdown(id=request):
                self._shutdowns.setdefault(connection.number, set()).add(request)
                self.end(f"client {connection.number} ({connection.name}) asked for it")
            case _:
                connection.refuse(ProtocolError(f"{type(message).__name__} is not for the engine at this point"))

    # -- what the engine says of itself ----------------------------------------------------------------------------

    def _announce(self, state: State) -> None:
        for connection in self._connections.values():
            connection.send(_presentable(state))

    def _welcome(self) -> Welcome:
        return Welcome(
            protocol=PROTOCOL_VERSION, version=__version__, pid=os.getpid(), state=_presentable(self._backend.state)
        )

    def _status(self, request: Status) -> StatusReply:
        facts = self._backend.snapshot()
        return StatusReply(
            id=request.id,
            pid=os.getpid(),
            version=__version__,
            uptime_s=time.monotonic() - self._started,
            state=_presentable(self._backend.state),
            device=facts.device,
            dtype=facts.dtype,
            target=facts.target,
            draft=facts.draft,
            drafters=facts.drafters,
            clients=len(self._connections),
            running=facts.running,
            queued=facts.queued,
            slots_used=facts.slots_used,
            slots_total=facts.slots_total,
            kv_bytes=facts.kv_bytes,
            kv_budget_bytes=facts.kv_budget_bytes,
            completed=facts.completed,
            cancelled=facts.cancelled,
            failed=facts.failed,
            wasted_tokens=facts.wasted_tokens,
            notes=facts.notes,
            traces=self._recorder.latest(request.last),
        )


def _presentable(state: State) -> State:
    """With a detail that fits the protocol: it may be the text of any exception."""
    return replace(state, detail=state.detail[:MAX_LINE])


async def _stop_backend(backend: Backend) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()

    def stop() -> None:
        try:
            backend.stop(STOP_TIMEOUT)
        except Exception as error:
            logger.error("the backend did not stop cleanly: %s", type(error).__name__)
        finally:
            _soon(loop, stopped.set)

    # A thread of its own and not the loop's executor, whose end the process would wait for without a bound.
    threading.Thread(target=stop, name="stop-backend", daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(1.25 * STOP_TIMEOUT):
            await stopped.wait()


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: EngineMessage) -> None:
    """Run `call` in the loop's thread, from any thread; a thread that speaks after the loop's end is not heard."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *arguments)
