"""Percentiles, always p50, p95 and p99, never only a mean; and how sure a ratio is. Plain arithmetic."""

import random
from collections.abc import Sequence

from completion_server.numbers.percentiles import percentile, ratio, summary

__all__ = ["median", "percentile", "ratio", "ratio_interval", "summary"]


def median(values: Sequence[float]) -> float | None:
    """The p50, rounded to a thousandth."""
    return summary(values, (50,))["p50"]


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
