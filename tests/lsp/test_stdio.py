"""The language server as an editor starts it, a process on stdin and stdout, and an engine process with a script."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient
from pytest_lsp.client import make_test_lsp_client

from completion_server.client import connect

SOON = 20.0
URI = "file:///project/app.py"
CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        inline_completion=types.InlineCompletionClientCapabilities(dynamic_registration=False)
    ),
    general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf16]),
    window=types.WindowClientCapabilities(work_done_progress=True),
)


class Client:
    """A pytest-lsp client, and the server's notifications of our own."""

    def __init__(self, raw: LanguageClient) -> None:
        self.raw = raw
        self.traces: list[Any] = []
        self.phases: list[str] = []
        self.grown: list[Any] = []
        self.came = asyncio.Event()
        self.version = 1

        @raw.feature("foretype/trace")
        def on_trace(params: Any) -> None:
            self.traces.append(params)

        @raw.feature("foretype/status")
        def on_status(params: Any) -> None:
            self.phases.append(params.phase)
            self.came.set()

        @raw.feature("foretype/grow")
        def on_grow(params: Any) -> None:
            self.grown.append(params)
            self.came.set()

    async def phase(self, wanted: str) -> None:
        async with asyncio.timeout(SOON):
            while self.phases[-1:] != [wanted]:
                self.came.clear()
                await self.came.wait()

    async def initialize(self, **more: Any) -> types.InitializeResult:
        options = {"trace": True, "status": True, "engine": {"start": False}, **more}
        params = types.InitializeParams(capabilities=CAPABILITIES, root_uri="file:///project")
        params.initialization_options = options
        result: types.InitializeResult = await self.raw.initialize_session(params)
        return result

    def open(self, text: str) -> None:
        item = types.TextDocumentItem(URI, "python", 1, text)
        self.raw.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def insert(self, line: int, character: int, text: str) -> None:
        self.version += 1
        place = types.Position(line, character)
        change = types.TextDocumentContentChangePartial(types.Range(place, place), text)
        document = types.VersionedTextDocumentIdentifier(self.version, URI)
        self.raw.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def params(self, line: int, character: int) -> types.InlineCompletionParams:
        context = types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic)
        return types.InlineCompletionParams(context, types.TextDocumentIdentifier(URI), types.Position(line, character))

    async def ghost(self, line: int, character: int) -> str | None:
        async with asyncio.timeout(SOON):
            result = await self.raw.text_document_inline_completion_async(self.params(line, character))
        assert isinstance(result, types.InlineCompletionList)
        return str(result.items[0].insert_text) if result.items else None


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """Not yet initialized."""
    raw = make_test_lsp_client()
    await raw.start_io(sys.executable, "-m", "lsp", "--stdio", env=dict(os.environ))
    yield Client(raw)
    await raw.shutdown_session()
    await raw.stop()


@pytest.fixture
async def start_engine(
    scripted_command: Callable[..., list[str]],
) -> AsyncIterator[Callable[..., Awaitable[asyncio.subprocess.Process]]]:
    async with AsyncExitStack() as stack:

        async def start(**script: Any) -> asyncio.subprocess.Process:
            process = await asyncio.create_subprocess_exec(*scripted_command(**script))
            stack.push_async_callback(_end, process)
            return process

        yield start


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()


async def test_the_whole_path(client: Client, start_engine: Any) -> None:
    await start_engine(rules=[{"match": "foo(", "text": "1)\n"}], load_ms=50)
    began = time.monotonic()
    result = await client.initialize()
    assert time.monotonic() - began < 10  # far above what it takes: that models load is not waited for
    assert result.capabilities.inline_completion_provider == types.InlineCompletionOptions()
    await client.phase("ready")
    client.open('x = "😀é漢"; foo(\nz = 1\n')
    assert await client.ghost(0, 16) == "1)"
    client.insert(0, 16, "1")
    assert await client.ghost(0, 17) == ")"
    assert [trace.outcome for trace in client.traces] == ["engine", "from-cache"]


async def test_a_suggestion_grows_behind_its_first_line(client: Client, start_engine: Any) -> None:
    said = "x = 1\n    y = 2\n    return x\n"
    await start_engine(rules=[{"text": said, "chunks": 7, "delay_ms": 20}])
    await client.initialize(stream=True)
    await client.phase("ready")
    client.open("def f():\n    ")
    shown = await client.ghost(1, 4)
    assert shown is not None
    async with asyncio.timeout(SOON):
        while not (client.grown and client.grown[-1].done):
            client.came.clear()
            await client.came.wait()
    assert said.startswith(shown)
    assert "\n    return" not in shown
    assert shown + "".join(note.text for note in client.grown) == said.rstrip()


async def test_a_request_is_cancelled_by_its_id(client: Client, start_engine: Any) -> None:
    await start_engine(rules=[{"match": "s in ", "text": "x", "delay_ms": 60_000}, {"text": "y"}])
    await client.initialize()
    await client.phase("ready")
    client.open("s in ")
    protocol = client.raw.protocol
    answer = protocol.send_request("textDocument/inlineCompletion", client.params(0, 5), msg_id="c1")
    client.raw.cancel_request(types.CancelParams(id="c1"))
    async with asyncio.timeout(SOON):
        with pytest.raises(Exception, match="cancelled") as caught:
            await asyncio.wrap_future(answer)
    assert getattr(caught.value, "code", None) == -32800
    client.insert(0, 5, "(1) +")
    assert await client.ghost(0, 10) == "y"


async def test_seventy_requests_each_cancelled_by_the_next(client: Client, start_engine: Any) -> None:
    await start_engine(rules=[{"text": "y", "delay_ms": 5}])
    await client.initialize()
    await client.phase("ready")
    client.open("x = ")
    protocol = client.raw.protocol
    answers: list[asyncio.Future[Any]] = []
    for number in range(70):
        if number:
            client.raw.cancel_request(types.CancelParams(id=f"r{number - 1}"))
        request = protocol.send_request("textDocument/inlineCompletion", client.params(0, 4), msg_id=f"r{number}")
        answers.append(asyncio.wrap_future(request))
        await asyncio.sleep(0.01)
    async with asyncio.timeout(SOON):
        results = await asyncio.gather(*answers, return_exceptions=True)
    assert results[-1].items[0].insert_text == "y"
    assert all(getattr(result, "code", -32800) == -32800 for result in results)
    assert len(client.traces) == 70


async def test_the_engine_is_killed_in_the_middle_of_a_request_and_started_again(
    client: Client, start_engine: Any
) -> None:
    engine = await start_engine(rules=[{"match": "s in ", "text": "x", "delay_ms": 60_000, "chunks": 2}, {"text": "y"}])
    await client.initialize()
    await client.phase("ready")
    client.open("s in ")
    answer = asyncio.create_task(client.ghost(0, 5))
    watcher = await connect(name="test")
    while not (await watcher.status()).running:
        pass
    await watcher.aclose()
    engine.send_signal(signal.SIGKILL)
    await engine.wait()
    assert await answer is None
    client.insert(0, 5, "a")
    for _ in range(5):
        assert await client.ghost(0, 6) is None
    await client.phase("unavailable")
    [message] = client.raw.messages
    assert message.message.startswith("Foretype: The engine has ended")

    client.phases.clear()
    await start_engine(rules=[{"text": "y"}])
    while client.phases[-1:] != ["ready"]:
        await client.ghost(0, 6)  # keys go on
        await asyncio.sleep(0.05)
    assert await client.ghost(0, 6) == "y"
    assert len(client.raw.messages) == 1


async def test_garbage_does_not_end_the_server(client: Client, start_engine: Any) -> None:
    await start_engine(rules=[{"text": "y"}])
    await client.initialize()
    await client.phase("ready")
    client.raw.protocol.writer.write(b"Content-Length: 9\r\n\r\n{not json")
    client.open("x = ")
    assert await client.ghost(0, 4) == "y"


@pytest.mark.parametrize(("goodbye", "status"), [(True, 0), (False, 1)])
async def test_the_exit_code_says_whether_there_was_a_shutdown(goodbye: bool, status: int) -> None:
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(sys.executable, "-m", "lsp", stdin=pipe, stdout=pipe)
    bodies = [
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
    ]
    bodies += ['{"jsonrpc":"2.0","id":2,"method":"shutdown"}'] if goodbye else []
    bodies += ['{"jsonrpc":"2.0","method":"exit"}']
    async with asyncio.timeout(SOON):
        await server.communicate("".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies).encode())
    assert server.returncode == status
