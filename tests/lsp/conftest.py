"""A language server in this process on an engine in memory, and an editor that speaks to it in JSON-RPC."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from lsp.fake_engine import FakeEngine
from lsp.server import Server, create_server

SOON = 10.0  # seconds: an upper bound for what takes milliseconds on a quiet machine


class Editor:
    """Sends JSON-RPC messages into a server's protocol and keeps all that comes back."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.sent: list[dict[str, Any]] = []  # by the server
        self._ids = count(1)
        self._versions: dict[str, int] = {}
        self._came = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        server.protocol.set_writer(self)

    # what pygls writes to

    def write(self, data: bytes) -> None:
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        self.sent.append(message)
        if message.get("method") == "window/workDoneProgress/create":
            self.send({"id": message["id"], "result": None})
        task = asyncio.create_task(self._tell())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None: ...

    async def _tell(self) -> None:
        async with self._came:
            self._came.notify_all()

    # what an editor does

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message})
        protocol = self.server.protocol
        protocol.handle_message(json.loads(body, object_hook=protocol.structure_message))

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    async def until(self, wanted: Callable[[], Any]) -> Any:
        async with asyncio.timeout(SOON), self._came:
            await self._came.wait_for(wanted)
        return wanted()

    async def reply(self, request: int | str) -> dict[str, Any]:
        return (await self.until(lambda: self.replies(request)))[0]

    def replies(self, request: int | str) -> list[dict[str, Any]]:
        return [message for message in self.sent if message.get("id") == request and "method" not in message]

    def notes(self, method: str) -> list[dict[str, Any]]:
        return [message["params"] for message in self.sent if message.get("method") == method]

    async def initialize(self, options: Any = None, **capabilities: Any) -> dict[str, Any]:
        request = next(self._ids)
        params = {
            "processId": None,
            "rootUri": "file:///project",
            "capabilities": capabilities,
            "initializationOptions": options,
        }
        self.send({"id": request, "method": "initialize", "params": params})
        reply = await self.reply(request)
        self.notify("initialized", {})
        return reply["result"]

    def open(self, text: str, uri: str = "file:///project/app.py", language: str = "python") -> None:
        self._versions[uri] = 1
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(
        self, start: tuple[int, int], end: tuple[int, int], text: str, uri: str = "file:///project/app.py"
    ) -> None:
        self._versions[uri] += 1
        ends = [{"line": line, "character": character} for line, character in (start, end)]
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": uri, "version": self._versions[uri]},
                "contentChanges": [{"range": {"start": ends[0], "end": ends[1]}, "text": text}],
            },
        )

    def insert(self, line: int, character: int, text: str, uri: str = "file:///project/app.py") -> None:
        self.change((line, character), (line, character), text, uri)

    def close_document(self, uri: str = "file:///project/app.py") -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def ask(
        self,
        line: int,
        character: int,
        uri: str = "file:///project/app.py",
        *,
        invoked: bool = False,
        selected: dict[str, Any] | None = None,
    ) -> int:
        """Send a request and return its id."""
        request = next(self._ids)
        context: dict[str, Any] = {"triggerKind": 1 if invoked else 2}
        if selected is not None:
            context["selectedCompletionInfo"] = selected
        params = {
            "textDocument": {"uri": uri},
            "position": {"line": line, "character": character},
            "context": context,
        }
        self.send({"id": request, "method": "textDocument/inlineCompletion", "params": params})
        return request

    def cancel(self, request: int) -> None:
        self.notify("$/cancelRequest", {"id": request})

    async def items(self, request: int) -> list[dict[str, Any]]:
        return (await self.reply(request))["result"]["items"]

    async def ghost(self, line: int, character: int, uri: str = "file:///project/app.py", **how: Any) -> str | None:
        """Ask, and return the text of the one item, or None."""
        items = await self.items(self.ask(line, character, uri, **how))
        assert len(items) <= 1
        return items[0]["insertText"] if items else None

    async def connected(self) -> None:
        """Wait until the link has its engine."""
        async with asyncio.timeout(SOON):
            await self.server.link.wait_ready(SOON)


@pytest.fixture
async def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
async def start_editor() -> AsyncIterator[Callable[..., Awaitable[Editor]]]:
    """Makes an editor on a server whose way to an engine is given; not yet initialized."""
    servers: list[Server] = []

    async def start(engine: FakeEngine) -> Editor:
        server = create_server(engine.connect)
        servers.append(server)
        return Editor(server)

    yield start
    for server in servers:
        server.warmer.cancel()
        server.audience.stop()
        await server.link.stop()


@pytest.fixture
async def editor(start_editor: Callable[..., Awaitable[Editor]], engine: FakeEngine) -> Editor:
    """Initialized, with `engine` ready."""
    editor = await start_editor(engine)
    await editor.initialize({"trace": True, "status": True})
    await editor.connected()
    return editor


@pytest.fixture
def editor_of() -> type[Editor]:
    """Makes an editor on a server of the test's own."""
    return Editor
