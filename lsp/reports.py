"""What the engine's store of numbers is told of this editor: each key and each event, a little later, many at a time.

A suggestion's key waits until the client has said that it was painted, and no longer than `AFTER`: a client need not
say so. Numbers and names alone. While there is no engine the latest ones wait for one. Knows nothing of connections.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, takewhile

from completion_server.protocol import MAX_REPORT, EventReport, Report
from lsp.answer import Answer
from lsp.events import Event
from lsp.keystroke import ClientTimes, Keystroke

AFTER = 0.25  # seconds in which more may come
_WAITING = 8 * MAX_REPORT  # keys, and as many events
_NAME = 64  # code points


@dataclass(slots=True, eq=False)
class _Key:
    stroke: Keystroke
    due: float
    own_id: str  # of the suggestion; empty without one
    client: ClientTimes | None = None

    def complete(self, now: float) -> bool:
        """Whether nothing more is waited for."""
        return not self.own_id or self.client is not None or now >= self.due


class Reports:
    """A `Listener`. `send` hands a report to the engine, and says whether there is one; `clock` gives seconds."""

    def __init__(self, send: Callable[[Report], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self.editor = ""
        self.enabled = True
        self._send = send
        self._clock = clock
        self._keys: deque[_Key] = deque(maxlen=_WAITING)
        self._events: deque[EventReport] = deque(maxlen=_WAITING)
        self._timer: asyncio.TimerHandle | None = None

    def happened(self, event: Event) -> None:
        if self.enabled:
            self._events.append(EventReport(event.kind, event.language[:_NAME], event.characters))
            self._set_timer(AFTER)

    def answered(self, answer: Answer, language: str, received: float) -> None:
        """A request of the client that came at `received` was answered just now."""
        if self.enabled:
            now = self._clock()
            own_id = answer.ghosts[0].id if answer.ghosts else ""
            self._keys.append(_Key(Keystroke.of(answer, language, received, now), now + AFTER, own_id))
            self._set_timer(AFTER)

    def painted(self, own_id: str, client: ClientTimes) -> None:
        """The client says how long its part took of the newest answer with this suggestion."""
        key = next((key for key in reversed(self._keys) if key.own_id == own_id), None)
        if key is not None and key.client is None:
            key.client = client

    def flush(self) -> None:
        """Send what is complete; it stays where there is no engine."""
        self._timer = None
        now = self._clock()
        while True:
            keys = list(takewhile(lambda key: key.complete(now), islice(self._keys, MAX_REPORT)))
            events = list(islice(self._events, MAX_REPORT))
            if not keys and not events:
                break
            told = tuple(key.stroke.report(key.client) for key in keys)
            if not self._send(Report(self.editor[:_NAME], told, tuple(events))):
                return
            for _ in keys:
                self._keys.popleft()
            for _ in events:
                self._events.popleft()
        if self._keys:
            self._set_timer(self._keys[0].due - now)

    def stop(self) -> None:
        """The editor is leaving: send the rest."""
        for key in self._keys:
            key.due = 0.0
        self.flush()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.flush)
