"""Suggestions that nobody wants to see whatever follows: rulers, and lines that say again what stands above. Pure."""

import re
from collections.abc import Sequence

_RULER = re.compile(r"([^\w\s()\[\]{}])\1{3,}")
_COMMENT = re.compile(r"(?:#|//|--|/\*|\*|;|%|<!--|\"|')+ ?")
_EQUAL_LINES = 3  # as many in a row are a loop


def is_noise(text: str, before: str, above: Sequence[str]) -> bool:
    """Whether `text`, written behind `before` on the cursor's line, is noise below the lines `above`."""
    said = text.strip()
    if not said:
        return False
    if _RULER.fullmatch(said):
        return True
    first = (before + text.partition("\n")[0]).strip()
    filled = [line.strip() for line in above if line.strip()]
    if not filled or first != filled[-1]:
        return False
    return bool(_COMMENT.match(first)) or filled[-_EQUAL_LINES + 1 :] == [first] * (_EQUAL_LINES - 1)
