"""The JSON-RPC side of pygls, made safe: our workspace, one reply per request, no user text in errors.

pygls leaves a request without a reply if its parameters cannot be read or the server shuts down, takes a second
`initialize`, keeps a future for every notification, reads `null` as the text "None", and puts exception texts and
tracebacks into error replies; all of that is mended here.
"""

import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

from lsp.document import Document
from lsp.positions import Encoding
from lsp.workspace import Workspace

logger = logging.getLogger(__name__)

_MESSAGES = {
    types.ErrorCodes.InvalidParams: "The parameters of this request are not what the protocol says.",
    types.ErrorCodes.MethodNotFound: "This server does not know that method.",
    types.ErrorCodes.InvalidRequest: "This request is out of place now.",
    types.ErrorCodes.ServerNotInitialized: "The first request must be initialize.",
    types.LSPErrorCodes.RequestCancelled: "The request was cancelled.",
}
_INTERNAL = "The request failed inside the server."


class WireProtocol(LanguageServerProtocol):
    """`on_close` is set by the server and told of every closed document."""

    on_close: Callable[[Document], None]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._after_replies: dict[int | str, Callable[[], None]] = {}

    def documents(self) -> Workspace:
        """Our workspace. Raises `RuntimeError` before `initialize`."""
        workspace = self.workspace
        if not isinstance(workspace, Workspace):
            raise RuntimeError("not initialized")
        return workspace

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        plain = self.workspace
        encoding = _encoding(plain.position_encoding)
        self._workspace = Workspace(plain.root_uri, list(plain.folders.values()), encoding, self.on_close)
        return result

    @property
    def shut_down(self) -> bool:
        """Whether the client has said goodbye with `shutdown`."""
        return self._shutdown

    def structure_message(self, data: dict[str, Any]) -> Any:
        if "jsonrpc" not in data:
            return data
        method = data.get("method")
        if method is not None and self.get_message_type(str(method)) is None:
            data.setdefault("params", None)  # pygls demands them of every method that it does not know
        if not _texts_are_texts(data):
            logger.warning("a document without a text was left out")
            return None
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if isinstance(data.get("id"), int | str) and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        if not hasattr(message, "jsonrpc"):
            return
        method = getattr(message, "method", None)
        refusal = self._refusal(method) if method is not None else None
        if refusal is None:
            super().handle_message(message)
        elif hasattr(message, "id"):
            self._send_response(message.id, error=types.ResponseError(refusal, ""))

    def _refusal(self, method: str) -> types.ErrorCodes | None:
        """Why a message is out of place at this time in the server's life."""
        if method == types.EXIT:
            return None
        if self._shutdown or (self._workspace is not None and method == types.INITIALIZE):
            return types.ErrorCodes.InvalidRequest
        if self._workspace is None and method != types.INITIALIZE:
            return types.ErrorCodes.ServerNotInitialized
        return None

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        def done(future: Future[Any]) -> None:
            self._request_futures.pop(msg_id, None)  # pygls forgets only those of requests
            callback(future)

        super()._execute_handler(msg_id, handler, done, args, kwargs)

    def _handle_cancel_notification(self, msg_id: int | str) -> None:
        if msg_id in self._request_futures:  # else it was answered in the meantime
            super()._handle_cancel_notification(msg_id)

    def _check_handler_result(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            logger.error("a notification failed", exc_info=error)

    def _send_response(
        self, msg_id: int | str, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        if error is not None:
            error = types.ResponseError(error.code, _MESSAGES.get(error.code, _INTERNAL))
        super()._send_response(msg_id, result, error)
        then = self._after_replies.pop(msg_id, None)
        if then is not None and error is None:
            then()

    def after_reply(self, msg_id: int | str | None, then: Callable[[], None]) -> None:
        """Have `then` called once the result of a request is sent; not if it is answered with an error."""
        if msg_id is not None:
            self._after_replies[msg_id] = then


def _texts_are_texts(data: dict[str, Any]) -> bool:
    """False for a document, or a change of one, whose text is none; what else may be wrong is not judged here."""
    params = data.get("params")
    if not isinstance(params, dict):
        return True
    holders: Any
    match data.get("method"):
        case types.TEXT_DOCUMENT_DID_OPEN:
            holders = [params.get("textDocument")]
        case types.TEXT_DOCUMENT_DID_CHANGE:
            holders = params.get("contentChanges")
        case types.NOTEBOOK_DOCUMENT_DID_OPEN:
            holders = params.get("cellTextDocuments")
        case types.NOTEBOOK_DOCUMENT_DID_CHANGE:
            holders = _texts_of_cells(params.get("change"))
        case _:
            return True
    return isinstance(holders, list) and all(
        isinstance(holder, dict) and isinstance(holder.get("text"), str) for holder in holders
    )


def _texts_of_cells(change: Any) -> list[Any] | None:
    """What a change of a notebook has for the texts of its cells; None if it cannot be read."""
    try:
        cells = change.get("cells") or {}
        opened = (cells.get("structure") or {}).get("didOpen") or []
        return [*opened, *(part for text in cells.get("textContent") or [] for part in text["changes"])]
    except (AttributeError, KeyError, TypeError):
        return None


def _encoding(kind: types.PositionEncodingKind | str | None) -> Encoding:
    match kind:
        case types.PositionEncodingKind.Utf8:
            return "utf-8"
        case types.PositionEncodingKind.Utf32:
            return "utf-32"
        case _:
            return "utf-16"
