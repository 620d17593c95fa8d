"""Where the part of a document begins that goes into the prompt, and what of the text after the cursor does.

Both are chosen when work at a place begins and then stay. Knows nothing of model families.
"""

import re
import zlib
from dataclasses import dataclass

from completion_server.tokenization import TextTokenizer

CHARS_PER_TOKEN = 6  # more than code has, so that a budget of tokens is surely in that many characters of ordinary text

_NEAR = 6_000  # code points between the cursor and text below it that may stay where it is in a prompt: 150 lines
_HASHED = 200  # code points of a line at most

_BARE_LINE = re.compile(r"\n(?=\S)")
_ANY_LINE = re.compile(r"\n")


def window_start(before: str, budget: int, tokenizer: TextTokenizer) -> int:
    """Offset in `before` from which on it has at most `budget` tokens.

    At a line that begins with text if one is near, else at any line, else (a huge line) anywhere. Of several the one
    with the smallest hash is taken: whoever comes back to about the same place finds the same start, and its keys and
    values. Work is bounded by the budget, not by the length of `before`.
    """
    base = max(0, len(before) - budget * CHARS_PER_TOKEN)
    tail = before[base:]
    _, starts = tokenizer.encode_with_starts(tail, continued=base > 0)
    if len(starts) <= budget:
        if base == 0:
            return 0
        cut = 0
    else:
        cut = starts[len(starts) - budget]
    near = cut + (len(tail) - cut) // 3
    for line in (_BARE_LINE, _ANY_LINE):
        starts = [match.end() for match in line.finditer(tail, max(0, cut - 1), near)]
        if starts:
            return base + min(starts, key=lambda start: _hash_of_line(tail, start))
    return base + cut


def _hash_of_line(text: str, start: int) -> int:
    return zlib.crc32(text[start : start + _HASHED].partition("\n")[0].encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Suffix:
    """The text after the cursor as it was when work at this place began.

    `rest` is what stood between the cursor and the end of its line, `below` all that follows as far as it is in the
    prompt; `whole` says that the document ended there.
    """

    ids: tuple[int, ...]
    rest: str
    below: str
    whole: bool

    @classmethod
    def of(cls, after: str, budget: int, tokenizer: TextTokenizer) -> "Suffix":
        text = after[: budget * CHARS_PER_TOKEN]
        ids, starts = tokenizer.encode_with_starts(text, continued=True)
        if len(ids) > budget:
            keep = budget
            while keep > 0 and starts[keep] == starts[keep - 1]:  # not between the tokens of one character
                keep -= 1
            text, ids = text[: starts[keep]], ids[:keep]
        rest, below = split_line(text)
        return cls(tuple(ids), rest, below, len(text) == len(after))

    def still_holds(self, after: str) -> bool:
        """The lines below the cursor's are the same, and behind the cursor on its own line at most closers differ."""
        rest, below = split_line(after)
        if not (below == self.below if self.whole else below.startswith(self.below)):
            return False
        if not self.whole and not self.below:  # the budget ended inside the cursor's line
            return rest.startswith(self.rest)
        return rest == self.rest or (only_closers(rest) and only_closers(self.rest))


@dataclass(frozen=True, slots=True)
class Below:
    """The lines below the cursor's as a model without markers reads them: first, and as text of their own.

    They need not begin right below the cursor, and must not be what it types next; so they stay while they are still
    below and not far away. `whole` says that the document ended there.
    """

    ids: tuple[int, ...]
    text: str
    whole: bool

    @classmethod
    def of(cls, after: str, budget: int, tokenizer: TextTokenizer) -> "Below":
        below = _lines_below(after)
        text = below[: budget * CHARS_PER_TOKEN]
        ids, starts = tokenizer.encode_with_starts(text)
        if len(ids) > budget:
            text = text[: starts[budget]]
        if len(text) < len(below):
            text = text[: text.rfind("\n") + 1] or text  # whole lines, but for one that is too long
            ids = tokenizer.encode(text)
        return cls(tuple(ids), text, len(text) == len(below))

    def still_holds(self, after: str) -> bool:
        below = _lines_below(after)
        if self.whole and len(below) > len(self.text) + _NEAR:
            return False
        return below.find(self.text, 0, len(self.text) + _NEAR) >= 0


def _lines_below(after: str) -> str:
    return split_line(after)[1][1:]


def split_line(text: str) -> tuple[str, str]:
    """Up to the first line end, and from it on."""
    cut = text.find("\n")
    return (text, "") if cut < 0 else (text[:cut], text[cut:])


def only_closers(text: str) -> bool:
    """Nothing but what editors insert by themselves behind a cursor."""
    return not text.strip(" \t\r)]}>\"'`,;:")
