"""The JSON-RPC side of pygls, made safe: our workspace, one reply per request, no user text in errors.

pygls leaves a request without a reply if its parameters cannot be read, and puts exception texts and tracebacks into
error replies; both are mended here.
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
    types.LSPErrorCodes.RequestCancelled: "The request was cancelled.",
}
_INTERNAL = "The request failed inside the server."


class WireProtocol(LanguageServerProtocol):
    """`on_close` is set by the server and told of every closed document."""

    on_close: Callable[[Document], None]

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

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if isinstance(data.get("id"), int | str) and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        if hasattr(message, "jsonrpc"):
            super().handle_message(message)

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


def _encoding(kind: types.PositionEncodingKind | str | None) -> Encoding:
    match kind:
        case types.PositionEncodingKind.Utf8:
            return "utf-8"
        case types.PositionEncodingKind.Utf32:
            return "utf-32"
        case _:
            return "utf-16"
