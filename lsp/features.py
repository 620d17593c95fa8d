"""What a client may say: every LSP message that the server hears beside the commands, each in a line or two."""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsp.item import id_of
from lsp.keystroke import ClientTimes

if TYPE_CHECKING:
    from lsp.server import Server

CURSOR = "foretype/cursor"
EVENT = "foretype/event"
SHOWN = "textDocument/didShowCompletion"
PARTLY_ACCEPTED = "textDocument/didPartiallyAcceptCompletion"


def register(server: "Server") -> None:
    """Add the features to `server`."""
    _register_life(server)
    _register_documents(server)
    _register_events(server)

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def inline_completion(params: types.InlineCompletionParams) -> types.InlineCompletionList:
        return await server.suggest(params)


def _register_life(server: "Server") -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.configure(params.initialization_options)
        client = params.client_info.name if params.client_info else ""
        server.may_begin_below = bool(client) and "vim" not in client.lower()
        server.reports.editor = client

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:  # noqa: ARG001
        server.begin()

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:  # noqa: ARG001
        server.audience.leave()
        server.reports.stop()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        if isinstance(params.settings, dict) and "foretype" in params.settings:
            server.configure(params.settings["foretype"])
            server.begin()


def _register_documents(server: "Server") -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.touched(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.touched(params.text_document.uri)

    @server.feature(CURSOR)
    def cursor(params: Any) -> None:
        uri, position = _field(_field(params, "textDocument"), "uri"), _position(_field(params, "position"))
        if isinstance(uri, str) and position is not None:
            server.looked(uri, position)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change_notebook(params: types.DidChangeNotebookDocumentParams) -> None:
        cells = params.change.cells
        for change in (cells and cells.text_content) or []:
            server.touched(change.document.uri)


def _register_events(server: "Server") -> None:
    audience = server.audience

    @server.feature(SHOWN)
    def did_show(params: Any) -> None:
        own_id = id_of(_field(params, "item"))
        document = audience.shown(own_id)
        if document is not None and own_id is not None:
            server.prefer(document, own_id)

    @server.feature(PARTLY_ACCEPTED)
    def did_partly_accept(params: Any) -> None:
        length = _field(params, "acceptedLength")
        if isinstance(length, int):
            audience.partly_accepted(id_of(_field(params, "item")), length)
            server.reporter.refresh()

    @server.feature(EVENT)
    def event(params: Any) -> None:
        own_id, length = _field(params, "id"), _field(params, "length")
        if not isinstance(own_id, str):
            return
        match _field(params, "event"):
            case "typedThrough" if isinstance(length, int):
                audience.typed_through(own_id, length)
            case ("dismissed" | "replaced" | "hidden") as how:
                audience.gone(own_id, how)
            case "painted" if (times := _client_times(params)) is not None:
                server.reports.painted(own_id, times)
        server.reporter.refresh()


def _client_times(params: Any) -> ClientTimes | None:
    return ClientTimes.read(_field(params, "keyMs"), _field(params, "replyMs"), _field(params, "paintMs"))


def _position(params: Any) -> types.Position | None:
    line, character = _field(params, "line"), _field(params, "character")
    return types.Position(line, character) if type(line) is type(character) is int else None


def _field(params: Any, name: str) -> Any:
    """pygls reads what it does not know into named tuples."""
    return getattr(params, name, None)
