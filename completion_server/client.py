"""The engine as a front end sees it: `connect` or `connect_or_start`, then `complete`.

Torch-free and quick to import. A client belongs to the event loop that made it. Knows nothing of LSP.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from completion_server import __version__
from completion_server.errors import (
    EngineUnavailable,
    ProtocolError,
    VersionMismatch,
)
from completion_server.instance import find_running
from completion_server.launch import Launched, launch
from completion_server.pairs import Pair, load_pairs
from completion_server.paths import RuntimePaths, runtime_paths
from completion_server.peer import same_user
from completion_server.protocol import (
    PROTOCOL_VERSION,
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
    Hello,
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
from completion_server.protocol.codec import claimed_protocol, decode
from completion_server.protocol.frames import MAX_FRAME, frame, read_frame
from completion_server.refusal import refusal_of

logger = logging.getLogger(__name__)

WELCOME_TIMEOUT: Final = 10.0
"""Seconds; an engine that is busy importing its libraries answers late."""

MAX_UNSENT: Final = 8 << 20
"""Bytes that wait for an engine which does not read before it counts as gone."""

_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 0.25

_Reply = TypeVar("_Reply", Result, Warmed, StatusReply, PairInUse, Goodbye)


@dataclass(slots=True)
class _Waiting:
    answer: asyncio.Future[Message]
    on_delta: Callable[[Delta], None] | None


async def connect(
    *, name: str, on_state: Callable[[State], None] | None = None, paths: RuntimePaths | None = None
) -> "EngineClient":
    """Connect to the engine that runs. `name` appears in its log; `on_state` is called at every change of its state.

    Raises `EngineUnavailable` if none answers, `Overloaded` if it has too many clients, `VersionMismatch` if it speaks
    another protocol, `SettingsError` if its folder can't be trusted.
    """
    paths = paths or runtime_paths()
    try:
        paths.check()
        reader, writer = await asyncio.open_unix_connection(paths.socket, limit=MAX_FRAME)
    except (FileNotFoundError, ConnectionRefusedError):
        running = find_running(paths)
        if running is not None:
            raise EngineUnavailable(f"{running} is just starting or ending, or hangs") from None
        raise EngineUnavailable("no engine is running: start one with `foretype serve`") from None
    except OSError as error:
        raise EngineUnavailable(f"cannot reach the engine at {paths.socket} ({error.strerror})") from None
    try:
        if not same_user(writer.get_extra_info("socket")):
            raise EngineUnavailable(f"the process that listens at {paths.socket} belongs to another user")
        writer.write(frame(Hello(protocol=PROTOCOL_VERSION, client=name, version=__version__)))
        async with asyncio.timeout(WELCOME_TIMEOUT):
            welcome = _read_welcome(await read_frame(reader))
    except TimeoutError:
        writer.transport.abort()
        raise EngineUnavailable(f"the engine at {paths.socket} does not answer: end its process") from None
    except OSError:
        writer.transport.abort()
        raise EngineUnavailable("the engine hung up") from None
    except BaseException:
        writer.transport.abort()
        raise
    return EngineClient(reader, writer, welcome, on_state)


async def connect_or_start(
    *,
    name: str,
    pair: str | None = None,
    on_state: Callable[[State], None] | None = None,
    timeout: float = 20.0,  # noqa: ASYNC109 (it ends in an error that says what the engine's process wrote last)
    paths: RuntimePaths | None = None,
    command: Sequence[str] | None = None,
) -> "EngineClient":
    """Connect to the engine that runs, or start one that outlives this process and connect to that.

    Returns as soon as the engine answers, while its models may still load: see `EngineClient.state`. An engine that
    runs already is used whatever its pair, and waited for where it does not answer yet. `command` replaces
    `python -m completion_server serve --pair PAIR`; it runs in the runtime folder, so its paths must be absolute.
    Raises `EngineUnavailable`, with the last line that the new process wrote, if it ends or does not answer within
    `timeout` seconds; otherwise as `connect` does.
    """
    paths = paths or runtime_paths()
    deadline = time.monotonic() + timeout
    pause = _FIRST_PAUSE
    launched: Launched | None = None
    while True:
        try:
            return await connect(name=name, on_state=on_state, paths=paths)
        except EngineUnavailable as error:
            unavailable = error
        exit_code = launched.exit_code() if launched is not None else None
        if launched is not None and exit_code:
            raise EngineUnavailable(f"the engine did not start: {launched.last_line() or f'exit code {exit_code}'}")
        if time.monotonic() > deadline:
            said = launched.last_line() if launched is not None else ""
            raise EngineUnavailable(f"no engine after {timeout:g} s: {said or unavailable}")
        if (launched is None or exit_code == 0) and find_running(paths) is None:
            # Exit code 0 means that another engine was there first. It may have been on its way out: try again.
            launched = launch(paths, pair=pair, command=command)
        await asyncio.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE)


def places() -> RuntimePaths:
    """Where an engine's socket and log are, whether one runs or not. Raises `SettingsError`."""
    return runtime_paths()


def known_pairs() -> tuple[Pair, ...]:
    """All pairs that can be loaded by name. Raises `SettingsError` for a file of them that cannot be read."""
    return tuple(load_pairs().values())


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


def _read_welcome(payload: bytes | None) -> Welcome:
    if payload is None:
        raise EngineUnavailable("the engine hung up")
    version = claimed_protocol(payload)
    if version is not None and version != PROTOCOL_VERSION:
        raise VersionMismatch(f"the engine speaks protocol {version}, this client {PROTOCOL_VERSION}: end the engine")
    message = decode(payload)
    if isinstance(message, Welcome):
        return message
    raise refusal_of(message)
