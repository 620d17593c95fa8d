"""On how many threads a pass runs: as measured when the machine was quiet, on one while others want the cores.

Threads that share a pass wait for each other some hundred times in it. Where an editor, a compiler or a test run takes
one of their cores away, each of these waits can last until the scheduler gives it back: with one busy process on two
cores a pass of the embedded model took five times as long on two threads as on one. So a pass that took much longer
than a single thread would is taken for a sign of company, and the next ones run on one thread for a while.

Knows nothing of models.
"""

import time
from collections.abc import Callable, Mapping

_LATE = 1.5  # times what one thread takes
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0


class ThreadChoice:
    """Chooses by width of the pass, from `measured`: milliseconds by width and number of threads, 1 among them."""

    def __init__(
        self, measured: Mapping[int, Mapping[int, float]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._measured = {width: dict(by_count) for width, by_count in measured.items()}
        self._clock = clock
        self._pause = _FIRST_PAUSE_S
        self._alone_until = float("-inf")

    def count(self, width: int) -> int:
        """Threads for a pass of `width` tokens."""
        by_count = self._measured[self._nearest(width)]
        best = min(by_count, key=by_count.__getitem__)
        return 1 if self._clock() < self._alone_until else best

    def observe(self, width: int, count: int, ms: float) -> None:
        """A pass of `width` tokens on `count` threads took `ms`. Each pause is twice the last until one helps."""
        nearest = self._nearest(width)
        if count == 1 or width > nearest:  # wider than was measured: nothing to compare with
            return
        if ms > _LATE * self._measured[nearest][1]:
            self._alone_until = self._clock() + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE_S)
        else:
            self._pause = _FIRST_PAUSE_S

    def _nearest(self, width: int) -> int:
        return min((at for at in self._measured if at >= width), default=max(self._measured))
