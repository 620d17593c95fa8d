"""The life of a server as JSON-RPC sees it: what may be asked when, and what is left behind."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lsp.fake_engine import FakeEngine

APP = "file:///project/app.py"
INITIALIZE = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": {"enabled": False}}


async def code(editor: Any, method: str, **message: Any) -> int | None:
    """The code of the one reply to a request, None for a result."""
    editor.send({"id": "q", "method": method, **message})
    reply = await editor.reply("q")
    editor.sent.remove(reply)
    return reply["error"]["code"] if "error" in reply else None


async def test_before_initialize(start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine) -> None:
    editor = await start_editor(engine)
    editor.open("x = ")
    position = {"textDocument": {"uri": APP}, "position": {"line": 0, "character": 0}, "context": {"triggerKind": 1}}
    assert await code(editor, "textDocument/inlineCompletion", params=position) == -32002
    assert await code(editor, "shutdown") == -32002
    assert await code(editor, "x/unknown") == -32002
    await editor.initialize()
    assert await editor.ghost(0, 0) is None  # it was opened too early


async def test_a_second_initialize_changes_nothing(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1"
    editor.open("x = ")
    assert await code(editor, "initialize", params=INITIALIZE) == -32600
    assert await editor.ghost(0, 4) == "1"


async def test_after_shutdown(editor: Any) -> None:
    assert await code(editor, "shutdown") is None
    assert await code(editor, "shutdown") == -32600
    assert await code(editor, "x/unknown", params={}) == -32600
    assert await code(editor, "initialize", params=INITIALIZE) == -32600
    assert editor.server.protocol.shut_down


@pytest.mark.parametrize("message", [{}, {"params": None}, {"params": {}}, {"params": [1]}])
async def test_an_unknown_method(editor: Any, message: dict[str, Any]) -> None:
    assert await code(editor, "x/unknown", **message) == -32601
    editor.send({"method": "x/note", **message})
    assert await code(editor, "shutdown") is None


async def test_notifications_leave_nothing_behind(editor: Any) -> None:
    editor.open("")
    for _ in range(100):
        editor.insert(0, 0, "x")
    editor.notify("workspace/didChangeConfiguration", {"settings": {}})
    editor.notify("initialized", {})  # its handler is a coroutine
    assert await editor.ghost(0, 50) is None
    assert editor.server.protocol._request_futures == {}


@pytest.mark.parametrize("text", [None, 5, ["x"]])
async def test_a_text_that_is_none_is_left_out(editor: Any, engine: FakeEngine, text: Any) -> None:
    engine.say = lambda _: "1"
    item = {"uri": APP, "languageId": "python", "version": 1, "text": text}
    editor.notify("textDocument/didOpen", {"textDocument": item})
    assert await editor.ghost(0, 0) is None
    editor.open("x = ")
    place = {"line": 0, "character": 0}
    for change in ({"text": text}, {"text": text, "range": {"start": place, "end": place}}):
        document = {"uri": APP, "version": 2}
        editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    assert await editor.ghost(0, 4) == "1"
    assert engine.asked[-1].before == "x = "
