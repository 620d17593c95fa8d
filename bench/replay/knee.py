"""The knee of a curve of editors: how many can type at once before each notices the others. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

SLOWER = 2.0
LESS_GOODPUT = 0.05
RULE = (
    f"the largest number of editors up to which p95 of key to suggestion stays within {SLOWER:g} times that of one "
    f"editor and goodput falls by no more than {100 * LESS_GOODPUT:g} points"
)
"""Against one editor, not against the limits: the knee is a property of the curve, and a slow machine has one too.
Both, because each is blind alone: p95 to many keys that are only just late, goodput where nothing was in time at first.
"""


@dataclass(frozen=True, slots=True)
class Point:
    """Of one number of editors; None where nothing was measured."""

    p95_ms: float | None
    goodput: float | None


@dataclass(frozen=True, slots=True)
class Knee:
    """`editors`: see `RULE`. `reached`: a larger number was measured and failed it; `reason` says how, in one line."""

    editors: int
    reached: bool
    reason: str


def knee(curve: Mapping[int, Point]) -> Knee:
    """Of the points by number of editors. Raises ValueError without that of one, which all are held against."""
    if 1 not in curve:
        raise ValueError("a curve begins with one editor")
    last = 1
    for count in sorted(curve):
        if trouble := _trouble(curve[count], curve[1]):
            return Knee(last, True, f"the knee is at {last}: with {count} editors {trouble}")
        last = count
    return Knee(last, False, f"no knee up to {last}: each is answered about as one alone")


def numbers(most: int) -> list[int]:
    """1, 2, 4 … and `most`."""
    found = [1]
    while found[-1] * 2 <= most:
        found.append(found[-1] * 2)
    return found if found[-1] == most else [*found, most]


def _trouble(point: Point, one: Point) -> str:
    if point.p95_ms is None or one.p95_ms is None:
        return "no key was answered"
    if point.p95_ms > SLOWER * one.p95_ms:
        return f"p95 is {point.p95_ms / one.p95_ms:.1f} times that of one"
    if point.goodput is not None and one.goodput is not None and round(one.goodput - point.goodput, 6) > LESS_GOODPUT:
        return f"goodput falls by {100 * (one.goodput - point.goodput):.0f} points"
    return ""
