"""Percentiles and shares, the same everywhere. Plain arithmetic."""

import math
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` (0..1) of all are not above (nearest rank); None without values."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def summary(values: Sequence[float], shares: Sequence[int] = (50, 95, 99)) -> dict[str, float | None]:
    """`{"p50": …, "p95": …, "p99": …}`, rounded to a thousandth."""
    found = {f"p{share}": percentile(values, share / 100) for share in shares}
    return {name: None if value is None else round(value, 3) for name, value in found.items()}


def ratio(part: float, whole: float) -> float | None:
    """`part / whole`, None where there is no whole."""
    return round(part / whole, 4) if whole else None
