"""Cuts what a row feeds into pieces that passes of fixed shape can take: plain integers.

So that drafting cannot change the arithmetic of a token that stays, neither width nor bucket of a token's pass may
depend on how many tokens were drafted behind it. Hence: tokens whose logits are wanted always go through a *narrow*
pass, with a single narrow width they all do at the same; whether the tokens before them go wide is decided by their
number alone; and a narrow piece ends where a bucket ends, so that a token's bucket follows from its position.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """The shapes that are used. `narrow` and `wide` are widths, `rows` numbers of rows of a narrow pass, ascending.

    `first_bucket` positions is the shortest context that attention reads; each further bucket is twice as long.
    """

    narrow: tuple[int, ...] = (16,)
    wide: tuple[int, ...] = (64, 256)
    rows: tuple[int, ...] = (1, 2, 4, 8)
    first_bucket: int = 1024

    def buckets(self, cells: int) -> list[int]:
        """All buckets of a memory with that many cells per place."""
        buckets, size = [], self.first_bucket
        while size < cells:
            buckets.append(size)
            size *= 2
        return [*buckets, cells]


@dataclass(frozen=True, slots=True)
class Piece:
    """`count` tokens from `start` on, in a pass `width` wide that reads `bucket`; logits of the last `logits`."""

    start: int
    count: int
    logits: int
    width: int
    bucket: int
    wide: bool = False


def at_least(sizes: Sequence[int], wanted: int) -> int:
    """The smallest of the ascending `sizes` that holds `wanted`."""
    return next(size for size in sizes if size >= wanted)


def cut(start: int, count: int, logits: int, plan: Plan, buckets: Sequence[int]) -> list[Piece]:
    """The pieces of a feed of `count` tokens at `start` that asks for the logits of its last `logits`, in order."""
    narrow = plan.narrow[-1]
    pieces: list[Piece] = []
    silent = count - logits
    end = start + count
    if plan.wide and silent > 2 * narrow:
        while silent > narrow:
            taken = min(silent, plan.wide[-1])
            bucket = at_least(buckets, start + taken)
            pieces.append(Piece(start, taken, 0, at_least(plan.wide, taken), bucket, wide=True))
            start, silent = start + taken, silent - taken
    while start < end:
        bucket = at_least(buckets, start + 1)
        taken = min(end - start, narrow, bucket - start)
        wanted = min(taken, max(0, start + taken - (end - logits)))
        pieces.append(Piece(start, taken, wanted, at_least(plan.narrow, taken), bucket))
        start += taken
    return pieces
