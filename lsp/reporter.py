"""Tells a person what the engine does: one message per outage, progress while it loads, `foretype/status`."""

import time
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from completion_server.protocol import State
from lsp.condition import figure_fields
from lsp.loading import LoadingProgress

if TYPE_CHECKING:
    from lsp.server import Server

STATUS = "foretype/status"
SELDOM = 5.0  # seconds between two statuses that bring nothing but another latency


class EditorReporter:
    """An `engine_link.Reporter` that speaks through the language server."""

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._progress = LoadingProgress(server)
        self._state: dict[str, Any] | None = None
        self._figures: dict[str, Any] = {}
        self._sent = 0.0

    def state(self, state: State) -> None:
        before = self._state or {}
        self._tell(state.phase, state.pair, state.detail, state.fraction)
        self._progress.show(state)
        if state.phase == "ready" and (before.get("phase"), before.get("pair")) != ("ready", state.pair):
            self._server.engine_ready()

    def lost(self, message: str) -> None:
        self._tell(self._server.link.phase, "", message, None)
        self._progress.stop()

    def trouble(self, message: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"Foretype: {message}"))

    def recovered(self, message: str) -> None:
        self._server.window_log_message(types.LogMessageParams(types.MessageType.Info, f"Foretype: {message}"))

    def refresh(self) -> None:
        """A figure may have changed: tell of acceptance at once, of latency now and then."""
        figures = self._current_figures()
        if self._state is None or figures == self._figures:
            return
        same_acceptance = figures["acceptance_today"] == self._figures.get("acceptance_today")
        if not same_acceptance or time.monotonic() - self._sent >= SELDOM:
            self._send(figures)

    def _tell(self, phase: str, pair: str, detail: str, fraction: float | None) -> None:
        self._state = {"phase": phase, "pair": pair, "detail": detail, "fraction": fraction}
        self._send(self._current_figures())

    def _send(self, figures: dict[str, Any]) -> None:
        self._figures, self._sent = figures, time.monotonic()
        if self._server.settings.status:
            self._server.protocol.notify(STATUS, {**(self._state or {}), **figures})

    def _current_figures(self) -> dict[str, Any]:
        return figure_fields(self._server.figures, self._server.totals)
