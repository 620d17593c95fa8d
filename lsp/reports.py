"""What the engine's store of numbers is told of this editor: each key and each event, a little later, many at a time.

Numbers and names alone. While there is no engine the latest ones wait for one. Knows nothing of connections.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from completion_server.protocol import MAX_REPORT, EventReport, KeyReport, Report, Usage
from lsp.events import Event

AFTER = 0.25  # seconds in which more may come
_WAITING = 8 * MAX_REPORT  # keys, and as many events
_NAME = 64  # code points


class Reports:
    """A `Listener`. `send` hands a report to the engine, and says whether there is one."""

    def __init__(self, send: Callable[[Report], bool]) -> None:
        self.editor = ""
        self.enabled = True
        self._send = send
        self._keys: deque[KeyReport] = deque(maxlen=_WAITING)
        self._events: deque[EventReport] = deque(maxlen=_WAITING)
        self._timer: asyncio.TimerHandle | None = None

    def happened(self, event: Event) -> None:
        if self.enabled:
            self._events.append(EventReport(event.kind, event.language[:_NAME], event.characters))
            self._set_timer()

    def answered(self, outcome: str, language: str, characters: int, seconds: float, usage: Usage | None) -> None:
        """A request of the client was answered, `seconds` after it came, with so many characters."""
        if self.enabled:
            milliseconds = 1e3 * seconds
            # The head of what still grows was answered as soon as it was there.
            first = usage.first_tokens_ms if usage is not None else milliseconds if outcome == "growing" else 0.0
            name = "engine" if outcome == "growing" else outcome
            self._keys.append(KeyReport(name, language[:_NAME], characters, milliseconds, first))
            self._set_timer()

    def flush(self) -> None:
        """Send what there is; it stays where there is no engine."""
        self._timer = None
        while self._keys or self._events:
            keys, events = list(self._keys)[:MAX_REPORT], list(self._events)[:MAX_REPORT]
            if not self._send(Report(self.editor[:_NAME], tuple(keys), tuple(events))):
                return
            for _ in keys:
                self._keys.popleft()
            for _ in events:
                self._events.popleft()

    def stop(self) -> None:
        """The editor is leaving: send the rest."""
        if self._timer is not None:
            self._timer.cancel()
        self.flush()

    def _set_timer(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(AFTER, self.flush)
