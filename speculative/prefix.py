"""How far two token lists agree."""

from collections.abc import Sequence


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix.

    Halves on slices, because comparing slices runs in C and the lists usually differ in their last few tokens only.
    """
    low, high = 0, min(len(a), len(b))
    a, b = list(a[:high]), list(b[:high])
    if a == b:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
