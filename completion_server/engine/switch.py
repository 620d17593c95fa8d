"""Another pair for an engine that runs: found, checked and loaded on a thread of its own, at low priority.

    ask ──▶ find (name, files, memory) ──▶ room beside the pair in use? ──yes──▶ load ──▶ prepared
                                                                        ──no───────────▶ prepared, not loaded yet

The engine's thread looks whether the switch is `due` and makes it: between two requests, and if no such moment comes,
after those that run. One switch at a time. Knows nothing of models and requests.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from completion_server.backend import Reply
from completion_server.engine.candidate import Candidate, Find, failure_of
from completion_server.errors import ForetypeError, RequestError
from completion_server.protocol import Cancelled, EngineMessage, Error, PairInUse, Usage, UsePair

if TYPE_CHECKING:
    from completion_server.engine.engine import Engine

PATIENCE_S: Final = 1.0
"""How long a prepared switch waits for a moment in which no request runs."""

_NICENESS: Final = 10


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the engine's thread has to do; without an `engine` it loads the candidate itself, in place of the old pair.

    `since` is `time.monotonic()`.
    """

    candidate: Candidate
    engine: "Engine | None"
    since: float


class Switch:
    """`post` runs a call on the engine's thread, soon; `show` tells there of progress, in words and share (0..1)."""

    def __init__(
        self, find: Find, post: Callable[[Callable[[], None]], None], show: Callable[[str, float | None], None]
    ) -> None:
        self._find = find
        self._post = post
        self._show = show
        self._lock = threading.Lock()
        self._wish: tuple[UsePair, Reply] | None = None  # until it has its reply
        self.prepared: Prepared | None = None  # of the engine's thread alone

    # -- from any thread -------------------------------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        return self._wish is not None

    def ask(self, request: UsePair, reply: Reply, *, in_use: str | None) -> None:
        """Begin to switch, unless a switch is under way or the pair is the one `in_use`."""
        with self._lock:
            wish = self._wish
            if wish is None and request.name != in_use:
                self._wish = request, reply
        if wish is not None:
            why = f"the engine is just switching to {wish[0].name}: ask again when that is done"
            reply(Error(request.id, RequestError.code, why))
        elif request.name == in_use:
            reply(PairInUse(request.id, request.name, 0.0))
        else:
            threading.Thread(target=self._prepare, args=(request.name,), name="foretype-loader", daemon=True).start()

    def give_up(self) -> None:
        """The engine ends; what is still being loaded is dropped."""
        self._answer(lambda request: Cancelled(request.id, "shutdown", Usage()))

    # -- on the loader's thread ------------------------------------------------------------------------------------

    def _prepare(self, name: str) -> None:
        _let_requests_go_first()
        try:
            candidate = self._find(name)
            engine = candidate.load(lambda what, done: self._tell(name, what, done)) if candidate.beside else None
        except Exception as error:  # whatever a model folder can throw, the pair in use goes on
            failure = failure_of(error, name)
            self._post(lambda: self.failed(failure))
            return
        prepared = Prepared(candidate, engine, time.monotonic())
        self._post(lambda: self._ready(prepared))

    def _tell(self, name: str, what: str, done: float) -> None:
        self._post(lambda: self._show(f"switching to {name}: {what}", done) if self.under_way else None)

    # -- on the engine's thread ------------------------------------------------------------------------------------

    def due(self, *, busy: bool) -> bool:
        """Whether the switch is to be made now."""
        prepared = self.prepared
        return prepared is not None and (not busy or time.monotonic() - prepared.since > PATIENCE_S)

    def done(self, pair: str, pause_ms: float) -> None:
        """The pair answers now."""
        self._answer(lambda request: PairInUse(request.id, pair, pause_ms))

    def failed(self, failure: ForetypeError) -> None:
        """The other pair cannot be used; the old one goes on."""
        request = self._answer(lambda request: Error(request.id, failure.code, str(failure)))
        if request is not None:
            self._show(f"{request.name} could not be loaded: {failure}", None)

    def _ready(self, prepared: Prepared) -> None:
        self.prepared = prepared if self.under_way else None

    def _answer(self, reply: Callable[[UsePair], EngineMessage]) -> UsePair | None:
        with self._lock:
            wish, self._wish = self._wish, None
        if wish is None:
            return None
        wish[1](reply(wish[0]))
        return wish[0]


def _let_requests_go_first() -> None:
    """On Linux every thread has a priority of its own, and those that it starts inherit it."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
