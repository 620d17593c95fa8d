"""Percentiles, always p50, p95 and p99, never only a mean. Plain arithmetic."""

import math
import random
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` (0..1) of all are not above (nearest rank); None without values."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def median(values: Sequence[float]) -> float | None:
    """The p50, rounded to a thousandth."""
    return summary(values, (50,))["p50"]


def summary(values: Sequence[float], shares: Sequence[int] = (50, 95, 99)) -> dict[str, float | None]:
    """`{"p50": …, "p95": …, "p99": …}`, rounded to a thousandth."""
    found = {f"p{share}": percentile(values, share / 100) for share in shares}
    return {name: None if value is None else round(value, 3) for name, value in found.items()}


def ratio(part: float, whole: float) -> float | None:
    """`part / whole`, None where there is no whole."""
    return round(part / whole, 4) if whole else None


def ratio_interval(pairs: Sequence[tuple[float, float]], seed: int = 0, draws: int = 2_000) -> tuple[float, float]:
    """The 95 % interval of (sum of the first of each pair) ÷ (sum of the second), by bootstrap over pairs.

    Efron & Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3 (the percentile interval). Raises
    ValueError without pairs.
    """
    if not pairs:
        raise ValueError("no pairs, no interval")
    dice = random.Random(seed)
    found = []
    for _ in range(draws):
        drawn = dice.choices(pairs, k=len(pairs))
        found.append(sum(first for first, _ in drawn) / sum(second for _, second in drawn))
    low, high = percentile(found, 0.025), percentile(found, 0.975)
    return round(low or 0.0, 4), round(high or 0.0, 4)
