"""One client's connection, as the engine sees it: messages in, replies out, exactly one last reply per request.

What a client does wrong costs that client alone: a bad message is answered with an `Error` and the connection goes on,
a stream that can't be read further is closed, and one that is not read from is cut off before it costs memory.
Knows nothing of what the requests mean.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Container
from typing import Final

from completion_server.errors import ForetypeError, Overloaded, ProtocolError, RequestError, VersionMismatch
from completion_server.ledger import MAX_OPEN, Ledger
from completion_server.protocol import (
    PROTOCOL_VERSION,
    Cancelled,
    Delta,
    EngineMessage,
    Error,
    Goodbye,
    Hello,
    Message,
    PairInUse,
    Result,
    State,
    StatusReply,
    Usage,
    Warmed,
    Welcome,
)
from completion_server.protocol.bounds import MAX_LINE
from completion_server.protocol.codec import claimed_protocol, claimed_request, decode
from completion_server.protocol.frames import frame, read_frame

logger = logging.getLogger(__name__)

HELLO_TIMEOUT: Final = 5.0
"""Seconds from connecting to a whole `Hello`."""

MAX_HELLO: Final = 4_096
"""Bytes: who has not said who it is gets no megabyte."""

MAX_UNREAD: Final = 4 << 20
"""Bytes that wait for a client to read them before it is cut off."""


class Connection:
    """All methods belong to the event loop's thread."""

    def __init__(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number = number
        self.name = "?"
        self.ledger = Ledger()
        self._reader = reader
        self._writer = writer

    async def greet(self, welcome: Callable[[], Welcome | Error]) -> bool:
        """Wait for `Hello` and answer it. False if there was none: the client was told why."""
        try:
            async with asyncio.timeout(HELLO_TIMEOUT):
                payload = await read_frame(self._reader, limit=MAX_HELLO)
            if payload is None:
                return False
            hello = _read_hello(payload)
        except TimeoutError:
            self.refuse(ProtocolError(f"no hello within {HELLO_TIMEOUT:g} s"))
        except ProtocolError as error:
            self.refuse(error)
        except OSError:
            pass
        else:
            self.name = hello.client if hello.client.isprintable() else "?"  # it stands in lines of the log
            self.send(welcome())
            return True
        return False

    async def receive(self) -> tuple[Message, float] | None:
        """The next message and `time.perf_counter()` when it was there. None when the connection is over."""
        while True:
            # Frames that are there already are read without waiting: a client with many must not keep out the others.
            await asyncio.sleep(0)
            try:
                payload = await read_frame(self._reader)
                received = time.perf_counter()
            except ProtocolError as error:
                self.refuse(error)
                return None
            except OSError:
                return None
            if payload is None:
                return None
            try:
                return decode(payload), received
            except ProtocolError as error:
                # A broken message that borrows the id of an open request must not end that one.
                request = claimed_request(payload)
                self._tell(0 if request in self.ledger else request, error)

    def send(self, message: EngineMessage) -> None:
        """Send what is not a reply to a request. Never blocks and never raises for a client that is gone.

        Raises `ProtocolError` for a message that breaks a bound of the protocol.
        """
        data = frame(message)
        if self._writer.is_closing():
            return
        self._writer.write(data)
        if self._writer.transport.get_write_buffer_size() > MAX_UNREAD:
            logger.warning("client %d (%s) does not read its replies: cut off", self.number, self.name)
            self._writer.transport.abort()

    def open(self, request: int) -> bool:
        """Enter a request. False if it can't be taken: the client was told why."""
        if request in self.ledger:
            # An Error with this id would look like the last reply of the request that is still open.
            self._tell(0, ProtocolError("a request with this id is still open: choose a new id"))
            return False
        if self.ledger.full:
            self._tell(request, Overloaded(f"{MAX_OPEN} requests are open on this connection: wait or cancel some"))
            return False
        return self.ledger.open(request)

    def reply(self, message: EngineMessage) -> None:
        """Send a `Delta` or the last reply of an open request. What no request waits for is dropped."""
        match message:
            case Delta(id=request):
                wanted = request in self.ledger
            case Result() | Warmed() | Cancelled() | Error() | StatusReply() | PairInUse() | Goodbye():
                wanted = self.ledger.settle(message.id)
            case Welcome() | State():
                raise TypeError(f"{type(message).__name__} is not a reply")
        if not wanted:
            return
        try:
            self.send(message)
        except ProtocolError as error:
            # A message that the engine itself made wrong: its request still gets its one reply.
            logger.error("a reply to client %d (%s) breaks the protocol: %s", self.number, self.name, error)
            self.ledger.settle(message.id)
            self._tell(message.id, RequestError("the engine's reply broke the protocol"))

    def fail(self, request: int, error: Exception) -> None:
        """The last reply of an open request that went wrong; nothing if it has had its reply."""
        if self.ledger.settle(request):
            self._tell(request, error)

    def cancel_open(self, spare: Container[int]) -> None:
        """Last replies for what is still open when the engine ends, but for the ids in `spare`."""
        for request in self.ledger.open_requests():
            if request not in spare:
                self.reply(Cancelled(id=request, reason="shutdown", usage=Usage()))

    async def close(self, timeout_s: float) -> None:
        """Let the client read what was sent, then hang up."""
        self._writer.close()
        try:
            async with asyncio.timeout(timeout_s):
                await self._writer.wait_closed()
        except TimeoutError:
            self._writer.transport.abort()
        except OSError:
            pass

    def refuse(self, error: ProtocolError) -> None:
        logger.warning("client %d (%s) refused: %s", self.number, self.name, error)
        self._tell(0, error)

    def _tell(self, request: int, error: Exception) -> None:
        if isinstance(error, ForetypeError):
            self.send(Error(id=request, code=error.code, message=str(error)[:MAX_LINE]))
        else:
            # The text of a foreign exception may quote the user's.
            self.send(Error(id=request, code=ForetypeError.code, message=f"internal error ({type(error).__name__})"))


def _read_hello(payload: bytes) -> Hello:
    version = claimed_protocol(payload)
    if version is not None and version != PROTOCOL_VERSION:
        raise VersionMismatch(
            f"this engine speaks protocol {PROTOCOL_VERSION}, the client {version}: "
            "update the older of the two, and end the engine so that the client starts its own"
        )
    hello = decode(payload)
    if not isinstance(hello, Hello):
        raise ProtocolError("the first message must be a hello")
    return hello
