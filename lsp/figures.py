"""What the engine's answers came to of late, for a status. Numbers alone."""

from collections import deque
from statistics import median

from completion_server.protocol import Usage

_LAST = 20  # requests
_WARM = 64  # tokens to compute at most


class Figures:
    def __init__(self) -> None:
        self.answered = 0
        self._warm: deque[float] = deque(maxlen=_LAST)

    def take(self, usage: Usage) -> None:
        self.answered += 1
        if usage.cached_tokens and usage.computed_tokens <= _WARM and usage.ttft_ms > 0:
            self._warm.append(usage.ttft_ms)

    @property
    def warm_ttft_ms(self) -> float | None:
        """Median time to first text of the last requests whose prompt was in memory; None while there is none."""
        return round(median(self._warm), 1) if self._warm else None
