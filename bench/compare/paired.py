"""How sure a figure is, and how sure a difference between two pairs is: bootstrap over turns. Plain arithmetic.

A turn is what was done in one place: the keys of a session, the cursors of a file, one prompt. What is done in one
place is not independent, so whole turns are drawn; and all pairs did the same turns, so both figures of a difference
are of the same draw, and what makes a turn hard for both falls out of it.

Efron & Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3 (the percentile interval).
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from bench.percentiles import percentile

LEAST = 5  # turns; of fewer no interval is given, as it would look surer than it is
DRAWS = 1_000

_Turn = TypeVar("_Turn")
Interval = tuple[float, float]
Statistic = Callable[[Sequence[_Turn]], float | None]


def interval(turns: Sequence[_Turn], statistic: Statistic[_Turn], seed: int = 0) -> Interval | None:
    """The 95 % interval of `statistic`; None where there are too few turns or a draw has no value."""
    return _middle(statistic([turns[index] for index in drawn]) for drawn in _draws(len(turns), seed))


def difference(
    ours: Sequence[_Turn], theirs: Sequence[_Turn], statistic: Statistic[_Turn], seed: int = 0
) -> Interval | None:
    """The 95 % interval of `statistic` of ours less that of theirs, over the turns that both have, in their order."""

    def of(drawn: Sequence[int]) -> float | None:
        one, other = (statistic([turns[index] for index in drawn]) for turns in (ours, theirs))
        return None if one is None or other is None else one - other

    return _middle(map(of, _draws(min(len(ours), len(theirs)), seed)))


def _draws(count: int, seed: int) -> Iterator[list[int]]:
    dice = random.Random(seed)
    return (dice.choices(range(count), k=count) for _ in range(DRAWS if count >= LEAST else 0))


def _middle(values: Iterable[float | None]) -> Interval | None:
    found: list[float] = []
    for value in values:
        if value is None:
            return None
        found.append(value)
    low, high = percentile(found, 0.025), percentile(found, 0.975)
    return None if low is None or high is None else (round(low, 4), round(high, 4))
