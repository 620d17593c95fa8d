"""The editor's progress display while the engine loads its models."""

import asyncio
from itertools import count

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from completion_server.protocol import State


class LoadingProgress:
    """Shows nothing to a client without `window.workDoneProgress`."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._serial = count(1)
        self._state: State | None = None  # while it loads
        self._token: str | None = None  # once the client knows it
        self._creating: asyncio.Task[None] | None = None

    def show(self, state: State) -> None:
        """Begin, go on or end, as the phase says."""
        window = self._server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        self._state = state if state.phase in ("starting", "loading") or state.fraction is not None else None
        if self._state is None:
            self.stop()
        elif self._token is not None:
            report = types.WorkDoneProgressReport(message=state.detail, percentage=_percentage(state))
            self._server.work_done_progress.report(self._token, report)
        elif self._creating is None:
            self._creating = asyncio.create_task(self._begin(f"foretype-loading-{next(self._serial)}"))

    def stop(self) -> None:
        """Nothing loads any more."""
        self._state = None
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
            self._token = None

    async def _begin(self, token: str) -> None:
        try:
            await self._server.work_done_progress.create_async(token)
        except JsonRpcException:
            return  # the client has none to give: not worth a word
        finally:
            self._creating = None
        if self._state is not None:  # else it was loaded before the client answered
            begin = types.WorkDoneProgressBegin(
                title="Foretype", message=self._state.detail, percentage=_percentage(self._state)
            )
            self._server.work_done_progress.begin(token, begin)
            self._token = token


def _percentage(state: State) -> int | None:
    return None if state.fraction is None else int(100 * state.fraction)
