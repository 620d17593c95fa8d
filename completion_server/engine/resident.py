"""The pair that is loaded: loaded when it is needed, dropped when it is idle, exchanged for another.

Every method belongs to the engine's thread, but for `snapshot`. Nothing heavy is imported here. Knows nothing of
requests and threads.
"""

import gc
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from completion_server.backend import Snapshot
from completion_server.engine.candidate import Candidate, Load, failure_of
from completion_server.errors import ForetypeError
from completion_server.protocol import State

if TYPE_CHECKING:
    from completion_server.engine.engine import Engine

RETRY_LOAD_S = 10.0


class Resident:
    """`announce` hears of every change of state."""

    def __init__(self, pair: str, load: Load, announce: Callable[[State], None]) -> None:
        self.pair = pair
        self.failure: ForetypeError | None = None  # why the last try to load it failed
        self._load = load
        self._announce = announce
        self._failed_at: float | None = None
        self._books: tuple[Engine | None, Snapshot] = (None, Snapshot())  # and totals of engines that were dropped

    @property
    def engine(self) -> "Engine | None":
        return self._books[0]

    def ensure(self) -> "Engine | None":
        """The engine, loaded if it is not; None where that fails, or has just failed."""
        if self.engine is not None:
            return self.engine
        if self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_LOAD_S:
            return None
        try:
            self._take(self.pair, self._load, self._loaded(self.pair, self._load))
        except Exception as error:  # whatever a model folder can throw must not end the process
            self.failure = failure_of(error, self.pair)
            self._failed_at = time.monotonic()
            self._announce(State("failed", self.pair, str(self.failure)))
        return self.engine

    def exchange(self, candidate: Candidate, engine: "Engine | None") -> None:
        """Drop the engine and go on with `engine`, or with what the candidate loads in the room that becomes free.

        Raises a ForetypeError if that fails, when the old pair is there again.
        """
        self.drop()
        if engine is None:
            _give_back_memory()
            engine = self._load_instead(candidate)
        self._take(candidate.pair, candidate.load, engine)

    def drop(self) -> None:
        """The models go; what was counted stays."""
        self._books = (None, self.snapshot().totals())

    def unload(self, why: str) -> None:
        """Drop the models and let the system have their memory; the next request loads them again."""
        self.drop()
        _give_back_memory()
        self._announce(State("unloaded", self.pair, why))

    def snapshot(self) -> Snapshot:
        engine, before = self._books
        return before if engine is None else engine.snapshot().after(before)

    def _load_instead(self, candidate: Candidate) -> "Engine":
        try:
            return self._loaded(candidate.pair, candidate.load)
        except Exception as error:  # whatever a model folder can throw
            failure = failure_of(error, candidate.pair)
        _give_back_memory()  # no traceback holds half a model any more
        self.ensure()
        raise failure

    def _loaded(self, pair: str, load: Load) -> "Engine":
        self._announce(State("loading", pair, "starting", 0.0))
        return load(lambda detail, done: self._announce(State("loading", pair, detail, done)))

    def _take(self, pair: str, load: Load, engine: "Engine") -> None:
        self.pair, self._load = engine.pair.name or pair, load
        self._books = (engine, self._books[1])
        self.failure = self._failed_at = None
        self._announce(State("ready", self.pair, engine.description))


def _give_back_memory() -> None:
    """Collect the models at once, not at some later time, and let a GPU have its memory back."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
