"""An editor without a screen: opens documents, types, and shows nobody what the language server suggests.

It runs the real server as a process and speaks LSP to it over stdio, so what it measures is what an editor would get.
For `foretype try`, the demonstration, the benchmarks and tests. Knows nothing of engines beyond the states that the
server reports.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lsprotocol import types

from completion_server import __version__
from completion_server.errors import EngineUnavailable, ModelError
from completion_server.protocol import State
from lsp.features import CURSOR
from lsp.headless_client import HeadlessClient
from lsp.languages import language_of
from lsp.reporter import STATUS
from lsp.text import Position, Text
from lsp.trace import METHOD as TRACE

__all__ = ["SERVER", "Buffer", "HeadlessEditor", "Suggestion", "language_of", "suggest_once"]

SERVER = (sys.executable, "-m", "lsp")
_GROW = "foretype/grow"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What one request brought. `text` is to be inserted at the cursor; empty: nothing is shown.

    It takes the place of the first `replaced` code points behind the cursor, which is none nearly always.
    `key_ms` runs from the last edit that was sent (from the request, if none was sent since the one before) to the
    reply. `trace` are the fields of `foretype/trace`: outcome, token counts, times.
    """

    text: str
    key_ms: float
    trace: Mapping[str, Any]
    replaced: int = 0


class HeadlessEditor:
    """Use as `async with HeadlessEditor(options) as editor`.

    `options` are the `initializationOptions`; trace and status are switched on. `command` starts the server,
    `environment` is the whole environment that it gets. Calls raise `EngineUnavailable` if the server has ended.
    """

    def __init__(
        self,
        options: Mapping[str, Any] | None = None,
        *,
        root: Path | None = None,
        command: Sequence[str] = SERVER,
        environment: Mapping[str, str] | None = None,
        on_state: Callable[[State], None] | None = None,
    ) -> None:
        self.state: State | None = None  # the engine's newest
        self.messages: list[str] = []  # that a person would have been shown
        self.grown: dict[str, Mapping[str, Any]] = {}  # by the request of a reply that grew: the trace of all of it
        self._options = {**(options or {}), "trace": True, "status": True}
        self._root = (root or Path.cwd()).resolve()
        self._command = tuple(command)
        self._environment = environment
        self._on_state = on_state
        self._client = HeadlessClient()
        self._client.listen(STATUS, self._take_state)
        self._client.listen(TRACE, self._take_trace)
        self._client.listen(_GROW, lambda _: None)  # what grows is there in the next reply
        self._client.listen(types.WINDOW_SHOW_MESSAGE, self._take_message)
        self._traces: dict[Any, Mapping[str, Any]] = {}
        self._moved = asyncio.Event()

    async def __aenter__(self) -> Self:
        try:
            await self._client.start_io(*self._command, env=self._environment)
            await self._client.request(types.INITIALIZE, self._initialize_params())
        except BaseException:
            await self._client.end()
            raise
        self._client.initialized(types.InitializedParams())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._client.end()

    async def wait_ready(self, timeout: float) -> None:  # noqa: ASYNC109 - it ends in an error of ours
        """Wait until the engine has its models. Raises `ModelError` with what kept it from loading them, or
        `EngineUnavailable` if there is none to be had.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while self.state is None or self.state.phase != "ready":
                    self._raise_trouble()
                    await self._moved.wait()
                    self._moved.clear()
                return
        raise EngineUnavailable(f"the engine was not ready after {timeout:g} s")

    def open(self, path: Path, text: str, *, language: str = "", name: str = "") -> "Buffer":
        """Open a document with the cursor at its end. It need not exist; `name` replaces the last part of its path."""
        path = (path.parent / (name or path.name)).absolute()
        buffer = Buffer(self, path.as_uri(), text)
        self._client.text_document_did_open(
            types.DidOpenTextDocumentParams(
                types.TextDocumentItem(buffer.uri, language or language_of(path), buffer.version, text)
            )
        )
        return buffer

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification that no buffer sends: what became of a suggestion, say."""
        self._client.protocol.notify(method, dict(params))

    async def execute(self, command: str, *arguments: Any) -> Any:
        """Have the server carry out one of its commands; what it answers."""
        params = types.ExecuteCommandParams(command, list(arguments))
        return (await self._client.request(types.WORKSPACE_EXECUTE_COMMAND, params))[1]

    def _initialize_params(self) -> types.InitializeParams:
        return types.InitializeParams(
            client_info=types.ClientInfo("foretype-headless", __version__),
            capabilities=types.ClientCapabilities(
                general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf32]),
                text_document=types.TextDocumentClientCapabilities(
                    inline_completion=types.InlineCompletionClientCapabilities()
                ),
            ),
            root_uri=self._root.as_uri(),
            initialization_options=self._options,
        )

    # -- what the server sends -----------------------------------------------------------------------------------------

    def _take_state(self, params: Any) -> None:
        self.state = State(params.phase, params.pair, params.detail, params.fraction)
        if self._on_state is not None:
            self._on_state(self.state)
        self._moved.set()

    def _take_trace(self, params: Any) -> None:
        trace = _plain(params)
        where = self.grown if trace.get("outcome") == "grown" else self._traces
        where[params.request] = trace

    def _take_message(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params.message.removeprefix("Foretype: "))
        self._moved.set()

    def _raise_trouble(self) -> None:
        if self.state is not None and self.state.phase == "failed":
            raise ModelError(self.state.detail)
        if self.messages and (self.state is None or self.state.phase not in ("starting", "loading")):
            raise EngineUnavailable(self.messages[-1])
        self._client.check_alive()

    # -- what buffers send ---------------------------------------------------------------------------------------------

    def _change(self, uri: str, version: int, start: Position, end: Position, text: str) -> None:
        self._client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangePartial(types.Range(_wire(start), _wire(end)), text)],
            )
        )

    def _look(self, uri: str, cursor: Position) -> None:
        self.tell(CURSOR, {"textDocument": {"uri": uri}, "position": {"line": cursor.line, "character": cursor.column}})

    def _close(self, uri: str) -> None:
        self._client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def _ask(self, uri: str, cursor: Position, invoked: bool) -> tuple[str, int, Mapping[str, Any]]:
        kind = types.InlineCompletionTriggerKind
        params = types.InlineCompletionParams(
            types.InlineCompletionContext(kind.Invoked if invoked else kind.Automatic),
            types.TextDocumentIdentifier(uri),
            _wire(cursor),
        )
        request, reply = await self._client.request(types.TEXT_DOCUMENT_INLINE_COMPLETION, params)
        items = reply.items if isinstance(reply, types.InlineCompletionList) else reply or []
        text, replaced = _edit(items[0]) if items else ("", 0)
        return text, replaced, self._traces.pop(request, {})


class Buffer:
    """One open document and its cursor, both in code points."""

    def __init__(self, editor: HeadlessEditor, uri: str, text: str) -> None:
        self.uri = uri
        self.version = 1
        self._editor = editor
        self._text = Text(text)
        self.cursor = self._text.end
        self._edited: float | None = None

    @property
    def text(self) -> str:
        return str(self._text)

    def move(self, line: int, column: int) -> None:
        """Put the cursor at a position, both from 0. As most editors do, it tells the server nothing of that."""
        self.cursor = Position(line, column)

    def look(self) -> None:
        """Tell the server where the cursor is, as Foretype's own clients do when it has moved."""
        self._editor._look(self.uri, self.cursor)

    def insert(self, text: str) -> None:
        """Type or accept `text`: the cursor goes behind it."""
        self._replace(self.cursor, text)

    def delete_back(self, count: int = 1) -> None:
        self._replace(self._text.back(self.cursor, count), "")

    async def suggest(self, *, invoked: bool = False) -> Suggestion:
        """Ask for a suggestion at the cursor, as on a key or (`invoked`) by hand."""
        began, self._edited = self._edited or time.perf_counter(), None
        text, replaced, trace = await self._editor._ask(self.uri, self.cursor, invoked)
        key_ms = 1_000 * (time.perf_counter() - began)
        rest = self._text.slice(self.cursor, self._text.forward(self.cursor, replaced))
        if rest and text.endswith(rest):
            text, replaced = text.removesuffix(rest), 0  # put in at the cursor it gives the same
        return Suggestion(text, key_ms, trace, replaced)

    def close(self) -> None:
        self._editor._close(self.uri)

    def _replace(self, start: Position, text: str) -> None:
        self.version += 1
        self._edited = time.perf_counter()
        self._editor._change(self.uri, self.version, start, self.cursor, text)
        self.cursor = self._text.replace(start, self.cursor, text).new_end


async def suggest_once(
    path: Path,
    text: str,
    line: int,
    column: int,
    *,
    pair: str | None = None,
    timeout: float = 600.0,  # noqa: ASYNC109 - it ends in an error of ours
    on_state: Callable[[State], None] | None = None,
) -> tuple[str, Mapping[str, Any]]:
    """Open `text` as `path` and ask once, by hand, at `line` and `column`, both from 0.

    Returns the suggestion ("" for none) and the fields of its trace. An engine is started if none runs.
    """
    async with HeadlessEditor({"pair": pair} if pair else {}, on_state=on_state) as editor:
        await editor.wait_ready(timeout)
        buffer = editor.open(path, text)
        buffer.move(line, column)
        suggestion = await buffer.suggest(invoked=True)
        return suggestion.text, suggestion.trace


def _edit(item: types.InlineCompletionItem) -> tuple[str, int]:
    """What an item puts in at the cursor, and in place of how many code points behind it."""
    replaced = item.range.end.character - item.range.start.character if item.range else 0
    return str(item.insert_text), replaced


def _plain(value: Any) -> Any:
    """pygls gives objects of messages that it does not know as named tuples."""
    if hasattr(value, "_asdict"):
        return {name: _plain(item) for name, item in value._asdict().items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _wire(position: Position) -> types.Position:
    return types.Position(position.line, position.column)
