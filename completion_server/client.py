"""The engine as a front end sees it: `connect` or `connect_or_start`, then `complete`.

Torch-free and quick to import. Knows nothing of LSP.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from completion_server import __version__
from completion_server.engine_client import EngineClient as EngineClient
from completion_server.errors import EngineUnavailable, VersionMismatch
from completion_server.instance import find_running
from completion_server.launch import Launched, launch
from completion_server.pairs import Pair, load_pairs
from completion_server.paths import RuntimePaths, runtime_paths
from completion_server.peer import same_user
from completion_server.protocol import PROTOCOL_VERSION, Hello, State, Welcome
from completion_server.protocol.codec import claimed_protocol, decode
from completion_server.protocol.frames import MAX_FRAME, frame, read_frame
from completion_server.refusal import refusal_of

WELCOME_TIMEOUT: Final = 10.0
"""Seconds; an engine that is busy importing its libraries answers late."""

_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 0.25


async def connect(
    *, name: str, on_state: Callable[[State], None] | None = None, paths: RuntimePaths | None = None
) -> EngineClient:
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
) -> EngineClient:
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
