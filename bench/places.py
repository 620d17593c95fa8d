"""Places to type at, in documents of a given size: the text around the cursor is the same in all of them. Pure.

What differs is what the size is about: how much of the same text stands before the cursor, or how much other code there
is above and below it. Other code is the top-level blocks of real files, shuffled and repeated.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.typist import Session, Source, session_at

NEAR = 245  # lines on each side of the cursor that documents of every length have: more than a prompt takes
_LEAST = 4 * NEAR  # lines of text to choose a place in
_BLOCK = re.compile(r"(?<=\n)(?=\S)")
_STATEMENT = re.compile(r"^[ \t]+(?=(?:if|for|while|return) )", re.MULTILINE)  # rare at line starts in prose


def middle(sources: Sequence[Source], keys: int) -> Session:
    """The place in front of a statement, about in the middle of all `sources`, one behind the other.

    Raises ValueError if there is none.
    """
    text = "\n".join(source.text for source in sources) + "\n"
    text *= 1 + _LEAST // (text.count("\n") or 1)
    found = _STATEMENT.search(text, len(text) // 2)
    if found is None:
        raise ValueError("there is no Python statement in the second half of the text")
    return session_at(Source(Path("place.py"), text), found.end(), keys)


def in_lines(place: Session, lines: int, sources: Sequence[Source], seed: int) -> Session:
    """`place` in the middle of a document of `lines` lines, of which the `NEAR` on each side are its own."""
    near = around(place, NEAR, NEAR)
    other = max(0, lines // 2 - NEAR)
    dice = random.Random(seed)
    above, below = (_filler(sources, other, dice) for _ in range(2))
    return replace(near, before=above + near.before, after=near.after + below)


def around(place: Session, above: int, below: int) -> Session:
    """`place` with at most so many lines before and behind the cursor's."""
    before, after = place.before.splitlines(keepends=True), place.after.splitlines(keepends=True)
    return replace(place, before="".join(before[-1 - above :]), after="".join(after[: 1 + below]))


def with_before(place: Session, characters: int, title: str) -> Session:
    """`place` with about so many characters before it, whole lines, the first of them a comment of its own."""
    tail = place.before[-characters:]
    return replace(place, before=f"# {title}\n{tail[tail.find(chr(10)) + 1 :]}")


def _filler(sources: Sequence[Source], lines: int, dice: random.Random) -> str:
    blocks = [block for source in sources for block in _BLOCK.split(source.text + "\n")]
    found: list[str] = []
    while len(found) < lines:
        dice.shuffle(blocks)
        for block in blocks:
            found += block.splitlines(keepends=True)
    return "".join(found[:lines])
