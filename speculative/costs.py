"""What passes cost, as measured by whoever runs them."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field


class CostError(ValueError):
    """Measurements that cannot be used."""


@dataclass(frozen=True)
class PassCosts:
    """Milliseconds of a target pass by width (tokens in it) and of one draft step by drafter.

    Between measured widths the cost is interpolated, below the smallest it is that of the smallest, above the largest
    the last slope goes on; a single measurement scales with the width. With `padded` (static shapes) a width costs what
    the next measured one costs. A drafter without an entry in `draft_step_ms` is free. Raises `CostError` without
    measurements or with impossible ones.
    """

    target_ms: Mapping[int, float]
    draft_step_ms: Mapping[str, float] = field(default_factory=dict)
    padded: bool = False
    _widths: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_widths", tuple(sorted(self.target_ms)))
        if not self.target_ms:
            raise CostError("the cost of a target pass must be known for at least one width")
        if min(self.target_ms) < 1 or min(self.target_ms.values()) <= 0:
            raise CostError("target passes have at least one token and take more than 0 ms")
        if min(self.draft_step_ms.values(), default=0.0) < 0:
            raise CostError("draft steps take at least 0 ms")

    def target(self, width: int) -> float:
        """Milliseconds of a target pass over `width` tokens."""
        widths = self._widths
        at = bisect_left(widths, width)
        if at < len(widths) and (at == 0 or self.padded or widths[at] == width):
            return self.target_ms[widths[at]]
        if len(widths) == 1:
            return self.target_ms[widths[0]] * width / widths[0]
        right = min(at, len(widths) - 1)
        low, high = widths[right - 1], widths[right]
        slope = (self.target_ms[high] - self.target_ms[low]) / (high - low)
        return self.target_ms[low] + slope * (width - low)

    def draft(self, drafter: str, steps: int) -> float:
        """Milliseconds of `steps` draft steps."""
        return self.draft_step_ms.get(drafter, 0.0) * steps
