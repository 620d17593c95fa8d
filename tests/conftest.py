"""What every test gets: folders of its own instead of the user's, no network, one thread, repeatable examples.

And what tests of more than one package use: engines that follow a script.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

# Before anything imports torch, tokenizers or the hub's library, which read these once.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
from hypothesis import settings as hypothesis_settings

from completion_server.backend import Backend
from completion_server.errors import ModelNotFound
from completion_server.hub import Hub
from completion_server.instance import Running, claim
from completion_server.numbers.recorder import Recorder
from completion_server.pairs import ModelRef
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths, runtime_paths
from completion_server.protocol import PROTOCOL_VERSION, Hello, Message, State, Welcome
from completion_server.protocol.codec import decode
from completion_server.protocol.frames import frame, read_frame
from completion_server.pull import locate
from completion_server.scripted import Rule, Script, ScriptedBackend

SOON = 20.0
"""Seconds: an upper bound for what takes milliseconds on a quiet machine."""

hypothesis_settings.register_profile("foretype", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis_settings.load_profile("foretype")


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "embedded_model" in getattr(item, "fixturenames", ()):
            item.add_marker("model")


@pytest.fixture(autouse=True)
def _own_folders(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Settings, sockets and (but for tests marked `model`) pulled models of this test alone.

    Not below `tmp_path`: the path of a socket may have about 100 bytes only.
    """
    folder = Path(tempfile.mkdtemp(prefix="foretype-"))
    with_models = request.node.get_closest_marker("model") is not None
    for name in [name for name in os.environ if name.startswith("FORETYPE_")]:
        if not (with_models and name == "FORETYPE_CACHE_DIR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setenv("FORETYPE_STATE_DIR", str(folder / "state"))
    monkeypatch.setenv(RUNTIME_DIR_VARIABLE, str(folder / "run"))
    if not with_models:
        monkeypatch.setenv("FORETYPE_CACHE_DIR", str(folder / "cache"))
        monkeypatch.setenv("HF_HOME", str(folder / "hub"))
    yield
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def embedded_model() -> Path:
    """The folder of the embedded model. Skips visibly if it was not pulled; in CI that is a failure."""
    try:
        return locate(ModelRef("embedded", "embedded"))
    except ModelNotFound as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture
def runtime() -> RuntimePaths:
    """The paths of an engine that no other test and no user has; what `$FORETYPE_RUNTIME_DIR` says in every test."""
    paths = runtime_paths()
    paths.folder.parent.mkdir(exist_ok=True)
    return paths


@pytest.fixture
def scripted_command(runtime: RuntimePaths) -> Iterator[Callable[..., list[str]]]:
    """Makes the command line of an engine process that follows the script given as JSON values.

    An engine that still runs at the end of the test is killed.
    """

    def command(*options: str, **script: Any) -> list[str]:
        file = runtime.folder.parent / "script.json"
        file.write_text(json.dumps(script))
        return [sys.executable, "-m", "completion_server.scripted", "--script", str(file), *options]

    yield command
    if runtime.lock.exists():
        with claim(runtime, "") as holder:
            if isinstance(holder, Running) and holder.pid:
                os.kill(holder.pid, signal.SIGKILL)


@pytest.fixture
async def serve_here(runtime: RuntimePaths) -> AsyncIterator[Callable[..., Awaitable[Hub]]]:
    """Serves a backend, with a recorder if one is given, in this process, at `runtime`, until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(backend: Backend, recorder: Recorder | None = None) -> Hub:
            listener = stack.enter_context(claim(runtime, "scripted"))
            assert not isinstance(listener, Running)
            hub = Hub(backend, recorder)
            await hub.start(listener)
            stack.push_async_callback(hub.stop)
            return hub

        yield start


@pytest.fixture
async def scripted(serve_here: Callable[..., Awaitable[Hub]]) -> Callable[..., Awaitable[ScriptedBackend]]:
    """Serves, in this process, an engine that follows these rules."""

    async def start(*rules: Rule) -> ScriptedBackend:
        backend = ScriptedBackend(Script(rules=rules))
        await serve_here(backend)
        return backend

    return start


class RawClient:
    """A client that can break the protocol."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *messages: Message) -> None:
        self.send_bytes(b"".join(map(frame, messages)))

    def send_bytes(self, data: bytes) -> None:
        self.writer.write(data)

    async def receive(self) -> Message | None:
        """The next message that is no `State`; None when the engine has hung up."""
        async with asyncio.timeout(SOON):
            while True:
                try:
                    payload = await read_frame(self.reader)
                except ConnectionError:
                    return None
                if payload is None:
                    return None
                message = decode(payload)
                if not isinstance(message, State):
                    return message

    async def greet(self) -> Welcome:
        self.send(Hello(protocol=PROTOCOL_VERSION, client="raw", version="0"))
        welcome = await self.receive()
        assert isinstance(welcome, Welcome)
        return welcome


@pytest.fixture
async def raw_client(runtime: RuntimePaths) -> AsyncIterator[Callable[[], Awaitable[RawClient]]]:
    """Connects to the engine at `runtime` without a word."""
    clients: list[RawClient] = []

    async def open_client() -> RawClient:
        client = RawClient(*await asyncio.open_unix_connection(runtime.socket))
        clients.append(client)
        return client

    yield open_client
    for client in clients:
        client.writer.transport.abort()
        await asyncio.wait([asyncio.ensure_future(_closed(client.writer))])


async def _closed(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        await writer.wait_closed()
