"""How sure a figure is that was measured on one run of keys: the 95 % interval, by bootstrap over blocks. Pure.

Keys that follow one another share a prompt, a suggestion, a queue and the noise of a moment. Drawing single keys anew
would treat them as independent and give intervals that are too narrow; drawing whole blocks of consecutive keys keeps
what neighbours share within each. Non-overlapping blocks: Carlstein, Annals of Statistics 14 (1986) 1171. The interval
is of percentiles of the draws: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from bench.percentiles import percentile

BLOCK = 25  # keys: about five seconds of typing
LEAST = 5  # blocks; fewer say nothing about how much they differ
DRAWS = 1_000

T = TypeVar("T")
Interval = tuple[float, float]


def blocks(keys: Sequence[T], size: int = BLOCK) -> list[Sequence[T]]:
    """`keys` in blocks of `size`; a rest of less than half of one goes to the last."""
    found = [keys[start : start + size] for start in range(0, len(keys), size)]
    if len(found) > 1 and len(found[-1]) < size / 2:
        found[-2:] = [keys[(len(found) - 2) * size :]]
    return found


def intervals(
    of: Sequence[Sequence[T]],
    figures: Callable[[Sequence[T]], Mapping[str, float | None]],
    seed: int,
    draws: int = DRAWS,
) -> dict[str, Interval | None]:
    """For each name that `figures` gives of all keys, its 95 % interval; None with fewer than `LEAST` blocks.

    Draws in which a figure has no value are left out of its interval.
    """
    names = list(figures([key for block in of for key in block]))
    if len(of) < LEAST:
        return dict.fromkeys(names)
    dice = random.Random(seed)
    drawn: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(draws):
        for name, value in figures([key for block in dice.choices(of, k=len(of)) for key in block]).items():
            if value is not None:
                drawn[name].append(value)
    return {name: _middle(values) for name, values in drawn.items()}


def _middle(values: Sequence[float]) -> Interval | None:
    low, high = percentile(values, 0.025), percentile(values, 0.975)
    return None if low is None or high is None else (round(low, 4), round(high, 4))
