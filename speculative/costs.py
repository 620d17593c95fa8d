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
    the next measured one costs. A drafter without an entry in `draft_step_ms` is free. Attention makes a pass dearer
    the longer the sequence: `target_ms` was measured behind `positions` tokens, `longer_ms` (if given, for the same
    widths) behind `longer_positions`, see `behind`. Raises `CostError` without measurements or with impossible ones.
    """

    target_ms: Mapping[int, float]
    draft_step_ms: Mapping[str, float] = field(default_factory=dict)
    padded: bool = False
    positions: int = 0
    longer_ms: Mapping[int, float] = field(default_factory=dict)
    longer_positions: int = 0
    _widths: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_widths", tuple(sorted(self.target_ms)))
        if not self.target_ms:
            raise CostError("the cost of a target pass must be known for at least one width")
        if min(self.target_ms) < 1 or min(self.target_ms.values()) <= 0:
            raise CostError("target passes have at least one token and take more than 0 ms")
        if min(self.draft_step_ms.values(), default=0.0) < 0:
            raise CostError("draft steps take at least 0 ms")
        if self.longer_ms and (self.longer_ms.keys() != self.target_ms.keys() or not self.spread > 0):
            raise CostError("longer passes must be measured at the same widths, behind more tokens")

    @property
    def spread(self) -> int:
        """Tokens between the two lengths that were measured."""
        return self.longer_positions - self.positions

    def behind(self, length: int) -> "PassCosts":
        """The costs of passes behind `length` tokens: along a line from `positions` on, and no less than there."""
        beyond = length - self.positions
        if not self.longer_ms or beyond <= 0:
            return self
        share = beyond / self.spread
        target_ms = {width: ms + share * max(0.0, self.longer_ms[width] - ms) for width, ms in self.target_ms.items()}
        return PassCosts(target_ms, self.draft_step_ms, self.padded)

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
