"""What tests of more than one package use: a runtime folder of their own and engines that follow a script."""

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from completion_server.backend import Backend
from completion_server.instance import Running, claim
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths
from completion_server.protocol import PROTOCOL_VERSION, Hello, Message, State, Welcome
from completion_server.protocol.codec import decode
from completion_server.protocol.frames import frame, read_frame
from completion_server.scripted import Rule, Script, ScriptedBackend
from completion_server.server import Server

SOON = 20.0
"""Seconds: an upper bound for what takes milliseconds on a quiet machine."""


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[RuntimePaths]:
    """The paths of an engine that no other test and no user has; also what `$FORETYPE_RUNTIME_DIR` says."""
    # Not tmp_path: it is too long for a socket.
    folder = Path(tempfile.mkdtemp(prefix="foretype-"))
    monkeypatch.setenv(RUNTIME_DIR_VARIABLE, str(folder / "run"))
    yield RuntimePaths(folder / "run")
    shutil.rmtree(folder)


@pytest.fixture
def scripted_command(runtime: RuntimePaths) -> Callable[..., list[str]]:
    """Makes the command line of an engine process that follows the script given as JSON values."""

    def command(*options: str, **script: Any) -> list[str]:
        file = runtime.folder.parent / "script.json"
        file.write_text(json.dumps(script))
        return [sys.executable, "-m", "completion_server.scripted", "--script", str(file), *options]

    return command


@pytest.fixture
async def serve_here(runtime: RuntimePaths) -> AsyncIterator[Callable[[Backend], Awaitable[Server]]]:
    """Serves a backend in this process, at `runtime`, until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(backend: Backend) -> Server:
            listener = stack.enter_context(claim(runtime, "scripted"))
            assert not isinstance(listener, Running)
            server = Server(backend)
            await server.start(listener)
            stack.push_async_callback(server.stop)
            return server

        yield start


@pytest.fixture
async def scripted(serve_here: Callable[[Backend], Awaitable[Server]]) -> Callable[..., Awaitable[ScriptedBackend]]:
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
    try:
        await writer.wait_closed()
    except OSError:
        pass
