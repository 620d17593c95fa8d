"""Tells a person what the engine does: one message per outage, progress while it loads, `foretype/status`."""

from typing import TYPE_CHECKING

from lsprotocol import types

from completion_server.protocol import State
from lsp.loading import LoadingProgress

if TYPE_CHECKING:
    from lsp.server import Server

STATUS = "foretype/status"
UNAVAILABLE = "unavailable"
"""The one phase in a status that is none of the engine's: no engine answers."""


class EditorReporter:
    """An `engine_link.Reporter` that speaks through the language server."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._progress = LoadingProgress(server)

    def state(self, state: State) -> None:
        self._status(state.phase, state.pair, state.detail, state.fraction)
        self._progress.show(state)
        if state.phase == "ready":
            self._server.engine_ready()

    def lost(self, message: str) -> None:
        self._status(UNAVAILABLE, "", message, None)
        self._progress.stop()

    def trouble(self, message: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"Foretype: {message}"))

    def recovered(self, message: str) -> None:
        self._server.window_log_message(types.LogMessageParams(types.MessageType.Info, f"Foretype: {message}"))

    def _status(self, phase: str, pair: str, detail: str, fraction: float | None) -> None:
        if self._server.settings.status:
            params = {"phase": phase, "pair": pair, "detail": detail, "fraction": fraction}
            self._server.protocol.notify(STATUS, params)
