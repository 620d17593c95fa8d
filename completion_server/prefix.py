"""Longest common prefix of two sequences: token lists, or texts. Knows nothing of what they mean."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def common_prefix(a: Sequence[T], b: Sequence[T]) -> int:
    """How many elements `a` and `b`, both texts or both lists, begin with alike.

    Bisects with slice comparisons, which run in C: a prompt of 4,000 tokens or a text of 64k characters takes
    microseconds.
    """
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:  # a[:low] == b[:low], and they differ before high
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
