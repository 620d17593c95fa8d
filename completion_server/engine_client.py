"""One connection to the engine: requests, their replies by id, and what the engine says of itself.

A client belongs to the event loop that made it. Knows nothing of how an engine is found or started.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from completion_server.errors import EngineUnavailable, ProtocolError
from completion_server.protocol import (
    Cancel,
    Cancelled,
    ClientMessage,
    CloseDocument,
    Complete,
    Context,
    Decoding,
    Delta,
    Error,
    Goodbye,
    Limits,
    Message,
    PairInUse,
    Report,
    Result,
    Shutdown,
    State,
    Status,
    StatusReply,
    UsePair,
    Warm,
    Warmed,
    Welcome,
)
from completion_server.protocol.codec import decode
from completion_server.protocol.frames import frame, read_frame
from completion_server.refusal import refusal_of

logger = logging.getLogger(__name__)

MAX_UNSENT: Final = 8 << 20
"""Bytes that wait for an engine which does not read before it counts as gone."""

_Reply = TypeVar("_Reply", Result, Warmed, StatusReply, PairInUse, Goodbye)


@dataclass(slots=True)
class _Waiting:
    answer: asyncio.Future[Message]
    on_delta: Callable[[Delta], None] | None


class EngineClient:
    """A connection to the engine. Made by `connect` and `connect_or_start`; end it with `aclose`.

    `state` is the newest that the engine told. When the connection breaks, every waiting call raises
    `EngineUnavailable`, and so does every later one.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        welcome: Welcome,
        on_state: Callable[[State], None] | None,
    ) -> None:
        self.state = welcome.state
        self.pid = welcome.pid
        self.version = welcome.version
        self._reader = reader
        self._writer = writer
        self._on_state = on_state
        self._last_id = 0
        self._waiting: dict[int, _Waiting] = {}
        self._closed = False
        self._listening = asyncio.create_task(self._listen())

    @property
    def closed(self) -> bool:
        return self._closed

    async def complete(
        self,
        context: Context,
        *,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        decoding: Decoding = Decoding(),  # noqa: B008 (frozen)
        on_delta: Callable[[Delta], None] | None = None,
        alternatives: int = 1,
        raw: bool = False,
    ) -> Result:
        """Ask for a suggestion, or for as many as `alternatives`. `on_delta` gets verified text of the first.

        With `raw` nothing but limits and stop tokens ends it.

        Cancelling the task that awaits this cancels the request in the engine, without waiting for its answer.
        Raises `RequestCancelled` if it was superseded by a newer request for the same document, `Overloaded`,
        `RequestError`, `EngineUnavailable`, `ProtocolError` if the context breaks a bound of the protocol, or what
        kept the engine from loading (`ModelError`, `DeviceError`, `SettingsError`).
        """
        streamed = on_delta is not None
        request = Complete(self._new_id(), context, limits, decoding, streamed, alternatives, raw)
        return await self._ask(request, Result, on_delta)

    async def warm(self, context: Context) -> Warmed:
        """Have the prompt of `context` prefilled. Cancelled by cancelling the task, and by any `complete`."""
        return await self._ask(Warm(self._new_id(), context), Warmed)

    async def status(self, last: int = 0) -> StatusReply:
        """What runs, with traces of the `last` so many answered requests."""
        return await self._ask(Status(self._new_id(), last), StatusReply)

    async def close_document(self, document: str) -> None:
        self._send(CloseDocument(document))

    async def report(self, report: Report) -> None:
        """Tell the engine's store and metrics what this front end has seen."""
        self._send(report)

    async def use_pair(self, name: str) -> PairInUse:
        """Have the engine answer with the pair called `name`. Returns once it does; requests go on meanwhile.

        Raises what keeps it from being loaded, and `RequestError` while another switch is under way: the pair in use
        goes on. Cancelling the task that awaits this does not stop the switch.
        """
        return await self._ask(UsePair(self._new_id(), name), PairInUse)

    async def shutdown(self) -> None:
        """Ask the engine's process to end. Returns when it has answered all its requests."""
        await self._ask(Shutdown(self._new_id()), Goodbye)

    async def aclose(self) -> None:
        """Hang up. The engine cancels what this client has running."""
        self._listening.cancel()
        await self.wait_closed()
        self._closed = True
        self._writer.transport.abort()  # a task that was cancelled before its first step has not done it

    async def wait_closed(self) -> None:
        """Wait until the connection is over, for whatever reason."""
        await asyncio.wait([self._listening])

    # -- requests --------------------------------------------------------------------------------------------------

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def _ask(
        self,
        request: Complete | Warm | Status | UsePair | Shutdown,
        expected: type[_Reply],
        on_delta: Callable[[Delta], None] | None = None,
    ) -> _Reply:
        waiting = _Waiting(asyncio.get_running_loop().create_future(), on_delta)
        self._send(request)
        self._waiting[request.id] = waiting
        try:
            answer = await waiting.answer
        except asyncio.CancelledError:
            if not self._closed:
                self._writer.write(frame(Cancel(request.id)))
            raise
        finally:
            # Whatever comes later for this id is dropped.
            self._waiting.pop(request.id, None)
        if isinstance(answer, expected):
            return answer
        raise refusal_of(answer)

    def _send(self, message: ClientMessage) -> None:
        data = frame(message)
        if self._closed or self._writer.is_closing():
            raise EngineUnavailable("the connection to the engine is over")
        if self._writer.transport.get_write_buffer_size() > MAX_UNSENT:
            self._writer.transport.abort()
            raise EngineUnavailable("the engine has stopped reading its requests")
        self._writer.write(data)

    # -- replies ---------------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        why = "the engine has ended"
        try:
            while (payload := await read_frame(self._reader)) is not None:
                self._take(decode(payload))
        except ProtocolError as error:
            why = f"the engine broke the protocol ({error})"
        except OSError:
            pass
        finally:
            self._closed = True
            self._writer.transport.abort()
            for waiting in self._waiting.values():
                if not waiting.answer.done():
                    waiting.answer.set_exception(EngineUnavailable(why))

    def _take(self, message: Message) -> None:
        match message:
            case State():
                self.state = message
                _call(self._on_state, message)
            case Delta(id=request):
                if request in self._waiting:
                    _call(self._waiting[request].on_delta, message)
            case Error(id=0, code=code):
                logger.warning("the engine could not read a message: %s", code)
            case Result() | Warmed() | Cancelled() | Error() | StatusReply() | PairInUse() | Goodbye():
                waiting = self._waiting.get(message.id)
                if waiting is not None and not waiting.answer.done():
                    waiting.answer.set_result(message)
            case _:
                raise ProtocolError(f"unexpected {type(message).__name__}")


_Value = TypeVar("_Value")


def _call(callback: Callable[[_Value], None] | None, value: _Value) -> None:
    """A callback's own fault must not end the connection, and its traceback could quote the user's text."""
    if callback is None:
        return
    try:
        callback(value)
    except Exception as error:
        logger.error("a callback of the engine's client failed: %s", type(error).__name__)
