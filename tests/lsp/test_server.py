"""What a client sees, with handlers in this process and an engine in memory."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import lsp.server as server_module
from completion_server.protocol import Decoding, Limits, State
from lsp.engine_link import OnState
from lsp.fake_engine import FakeEngine

APP = "file:///project/app.py"


async def test_it_advertises_inline_completion_and_the_first_encoding_that_it_knows(
    start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine
) -> None:
    editor = await start_editor(engine)
    result = await editor.initialize(general={"positionEncodings": ["utf-7", "utf-8", "utf-16"]})
    assert result["capabilities"]["inlineCompletionProvider"] == {}
    assert result["capabilities"]["positionEncoding"] == "utf-8"
    assert result["capabilities"]["textDocumentSync"]["change"] == 2
    assert "foretype.accepted" in result["capabilities"]["executeCommandProvider"]["commands"]


async def test_a_suggestion_with_its_range_command_and_trace(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "a + b\n"
    editor.open("def add(a, b):\n    return ")
    [item] = await editor.items(request := editor.ask(1, 11))
    place = {"line": 1, "character": 11}
    assert item["insertText"] == "a + b"
    assert item["range"] == {"start": place, "end": place}
    [trace] = editor.notes("foretype/trace")
    assert item["command"]["command"] == "foretype.accepted"
    assert item["command"]["arguments"] == [trace["id"]]
    assert (trace["request"], trace["uri"], trace["version"], trace["outcome"]) == (request, APP, 1, "engine")
    assert (trace["text_length"], trace["prompt_tokens"], trace["computed_tokens"]) == (5, 26, 1)
    methods = [message.get("method", message.get("id")) for message in editor.sent]
    assert methods.index("foretype/trace") < methods.index(request)  # the trace comes first


async def test_what_the_engine_is_told(editor: Any, engine: FakeEngine) -> None:
    editor.open("a\r\nb = \r\nc\r\n", uri="file:///project/src/x%20y.py")
    await editor.ghost(1, 4, uri="file:///project/src/x%20y.py")
    [context] = engine.asked
    assert (context.before, context.after) == ("a\nb = ", "\nc\n")
    assert (context.path, context.language, context.version) == ("src/x y.py", "python", 1)


async def test_a_document_that_is_not_open_gets_an_empty_answer(editor: Any) -> None:
    assert await editor.ghost(0, 0, uri="file:///project/never.py") is None
    editor.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": "file:///project/never.py", "version": 2},
            "contentChanges": [{"text": "x"}],
        },
    )
    assert await editor.ghost(0, 0, uri="file:///project/never.py") is None


async def test_each_request_whose_parameters_make_no_sense_gets_one_error_without_their_text(editor: Any) -> None:
    broken: list[Any] = [
        None,
        [],
        {"position": "hunter2"},
        {"textDocument": {"uri": APP}, "position": {"line": "hunter2"}},
    ]
    for number, params in enumerate(broken):
        editor.send({"id": f"m{number}", "method": "textDocument/inlineCompletion", "params": params})
    for number in range(len(broken)):
        reply = await editor.reply(f"m{number}")
        assert reply["error"]["code"] == -32602
        assert "hunter2" not in str(reply)
        assert len(editor.replies(f"m{number}")) == 1


async def test_a_cell_of_a_notebook_is_a_document(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1"
    cell = "vscode-notebook-cell:///project/n.ipynb#W0"
    notebook = {
        "notebookDocument": {
            "uri": "file:///project/n.ipynb",
            "notebookType": "jupyter-notebook",
            "version": 1,
            "cells": [{"kind": 2, "document": cell}],
        },
        "cellTextDocuments": [{"uri": cell, "languageId": "python", "version": 1, "text": "x = "}],
    }
    editor.notify("notebookDocument/didOpen", notebook)
    assert await editor.ghost(0, 4, uri=cell) == "1"
    closed = {"notebookDocument": {"uri": "file:///project/n.ipynb"}, "cellTextDocuments": [{"uri": cell}]}
    editor.notify("notebookDocument/didClose", closed)
    assert await editor.ghost(0, 4, uri=cell) is None


async def test_bad_settings_give_their_defaults_and_one_message(
    start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine
) -> None:
    editor = await start_editor(engine)
    await editor.initialize({"max_lines": "many", "colour": "red", "engine": {"start": 1}, "trace": True})
    await editor.connected()
    assert editor.server.settings.max_lines == 12
    assert editor.server.settings.trace is True
    [message] = editor.notes("window/showMessage")
    assert all(name in message["message"] for name in ("max_lines", "colour", "engine.start"))


async def test_settings_may_change(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1"
    editor.open("x = ")
    editor.notify("workspace/didChangeConfiguration", {"settings": {"foretype": {"enabled": False}}})
    assert await editor.ghost(0, 4) is None
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    assert await editor.ghost(0, 4) is None
    editor.notify("workspace/didChangeConfiguration", {"settings": {"foretype": {"max_lines": 0}}})
    assert len(editor.notes("window/showMessage")) == 1
    assert await editor.ghost(0, 4) == "1"


async def test_settings_reach_the_engine(start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine) -> None:
    editor = await start_editor(engine)
    await editor.initialize({"max_lines": 1, "max_tokens": 7, "drafting": False})
    await editor.connected()
    editor.open("x = ")
    await editor.ghost(0, 4)
    assert engine.asked_for == [(Limits(max_tokens=7, max_lines=1), Decoding(drafting=False))]


@pytest.mark.parametrize(("start", "calls"), [(True, ["start tiny"]), (False, ["connect"])])
async def test_an_engine_is_started_only_where_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch, engine: FakeEngine, editor_of: Callable[[Any], Any], start: bool, calls: list[str]
) -> None:
    made: list[str] = []

    async def connect(*, name: str, on_state: OnState) -> FakeEngine:
        made.append("connect")
        return await engine.connect(on_state)

    async def connect_or_start(*, name: str, pair: str | None, on_state: OnState) -> FakeEngine:
        made.append(f"start {pair}")
        return await engine.connect(on_state)

    monkeypatch.setattr(server_module, "connect", connect)
    monkeypatch.setattr(server_module, "connect_or_start", connect_or_start)
    editor = editor_of(server_module.create_server())
    await editor.initialize({"pair": "tiny", "engine": {"start": start}})
    await editor.connected()
    await editor.server.link.stop()
    assert made == calls


async def test_an_open_completion_menu_is_continued_or_left_alone(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "int(x)"
    editor.open("    pr")
    span = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 6}}
    [item] = await editor.items(editor.ask(0, 6, selected={"range": span, "text": "print"}))
    assert (item["insertText"], item["range"]) == ("print(x)", span)
    assert await editor.items(editor.ask(0, 6, selected={"range": span, "text": "property"})) == []
    trace = editor.notes("foretype/trace")[-1]
    assert (trace["outcome"], trace["text_length"]) == ("unwanted", 0)


async def test_status_goes_to_clients_that_asked_for_it(editor: Any, engine: FakeEngine) -> None:
    engine.become(State(phase="loading", pair="fake", detail="reading weights", fraction=0.25))
    assert editor.notes("foretype/status")[-1] == {
        "phase": "loading",
        "pair": "fake",
        "detail": "reading weights",
        "fraction": 0.25,
        "warm_ttft_ms": None,
        "acceptance_today": None,
    }


async def test_the_shutdown_of_the_protocol(editor: Any) -> None:
    editor.send({"id": "bye", "method": "shutdown", "params": None})
    assert (await editor.reply("bye"))["result"] is None


@pytest.mark.parametrize("module", ["torch", "transformers", "numpy", "tokenizers"])
def test_the_front_end_does_not_load(module: str) -> None:
    code = f"import sys, lsp.server, lsp.__main__; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


async def test_a_message_is_one_event_of_the_loop(editor: Any) -> None:
    """The snapshot is taken before a change that comes right behind the request."""
    editor.open("x = ")
    request = editor.ask(0, 4)
    await asyncio.sleep(0)
    editor.insert(0, 0, "y")
    await editor.reply(request)
    assert editor.notes("foretype/trace")[-1]["version"] == 1
