"""Where the time of the latest requests went: the engine's part and the front end's, joined by the request's id.

Either may come first: a front end answers with the head of a suggestion while the engine still writes it, and some
front ends tell nothing. So a slow one is told of at once with what is known, and once more when it is whole: nothing
waits for a report that may never come. Knows nothing of files.
"""

import json
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

from completion_server.numbers.records import TraceRecord
from completion_server.numbers.stages import all_stages, engine_stages
from completion_server.numbers.summary import SUGGESTION_MS as SLOW_MS
from completion_server.protocol import MAX_TRACES, FrontTimes, KeyReport, Stage, Trace, Usage

_CANCELLED = ("client", "superseded", "shutdown")  # outcomes


class Traces:
    """May be asked from any thread. `clock` gives Unix seconds.

    `tell` gets each that took longer than `SLOW_MS`, and again what replaces it, under the same time. It must not wait
    for anything.
    """

    def __init__(self, tell: Callable[[TraceRecord], None], clock: Callable[[], float] = time.time) -> None:
        self._tell = tell
        self._clock = clock
        self._kept: deque[_Kept] = deque(maxlen=MAX_TRACES)
        self._early: OrderedDict[_Id, FrontTimes] = OrderedDict()  # of requests that the engine still works on
        self._time = 0.0
        self._lock = threading.Lock()

    def answered(self, request: "_Id", client: str, pair: str, language: str, outcome: str, usage: Usage) -> None:
        """The engine has answered `request`: the number of its client, and its id there."""
        with self._lock:
            times = self._early.pop(request, None)
            self._keep(_Kept(self._now(), request, client, pair, language, outcome, usage, times))

    def reported(self, connection: int, client: str, pair: str, key: KeyReport) -> float | None:
        """A front end has answered `key`. Returns how long the engine took for it, None where that is not known.

        Of several keys that were answered out of one request its trace is the first one's.
        """
        with self._lock:
            if not key.request:
                if key.characters:
                    self._keep(_Kept(self._now(), None, client, pair, key.language, key.outcome, Usage(), key.times))
                return None
            request = connection, key.request
            found = next((kept for kept in reversed(self._kept) if kept.request == request), None)
            if found is None:
                self._early.setdefault(request, key.times)
                if len(self._early) > MAX_TRACES:
                    self._early.popitem(last=False)
                return None
            if found.times is None:
                found.times = key.times
                self._tell_slow(found)
            return found.usage.e2e_ms

    def latest(self, count: int) -> tuple[Trace, ...]:
        """Of the last `count` requests that were answered, the newest last.

        Those that were cancelled before anything was done for them are left out: who types fast has little else.
        """
        with self._lock:
            now = self._clock()
            worth = [kept for kept in self._kept if kept.outcome not in _CANCELLED or kept.total_ms]
            return tuple(kept.trace(now) for kept in worth[-count:] if count)

    def _keep(self, kept: "_Kept") -> None:
        self._kept.append(kept)
        self._tell_slow(kept)

    def _tell_slow(self, kept: "_Kept") -> None:
        """In order, which is why all this is done under the lock."""
        if kept.total_ms > SLOW_MS:
            self._tell(kept.record())

    def _now(self) -> float:
        """Never the same twice: it names a row."""
        self._time = max(self._clock(), math.nextafter(self._time, math.inf))
        return self._time


_Id = tuple[int, int]


@dataclass(slots=True)
class _Kept:
    """`usage` is the engine's part, zero without it; `times` the front end's, None until it is there.

    Nearly nobody looks at the stages, so they are worked out for who does.
    """

    time: float
    request: _Id | None
    client: str
    pair: str
    language: str
    outcome: str
    usage: Usage
    times: FrontTimes | None

    @property
    def stages(self) -> tuple[Stage, ...]:
        engine = engine_stages(self.usage)
        return engine if self.times is None else all_stages(engine, self.usage.e2e_ms, self.times)

    @property
    def total_ms(self) -> float:
        if self.times is None:
            return round(self.usage.e2e_ms, 3)
        return round(sum(stage.ms for stage in self.stages), 3)

    @property
    def shown_ms(self) -> float:
        return 0.0 if self.times is None else round(self.times.shown_ms, 3)

    def trace(self, now: float) -> Trace:
        age = max(0.0, now - self.time)
        return Trace(age, self.client, self.language, self.outcome, self.total_ms, self.stages, self.shown_ms)

    def record(self) -> TraceRecord:
        told = json.dumps([[stage.name, stage.ms] for stage in self.stages])
        return TraceRecord(self.time, self.pair, self.language, self.total_ms, told, self.shown_ms)
