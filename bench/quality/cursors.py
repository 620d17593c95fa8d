"""Places in real code where people type, and what its author wrote there. Pure; the same for the same seed.

A cursor stands where the author once stood: what he wrote there is taken out of the document, everything else stays.

- In the middle of a line (after `.`, `(`, `=`, inside a word) inside brackets that were opened on it, what stands in
  them from there on goes, and the closer stays, as an editor has put it there; elsewhere the rest of the statement: the
  rest of the line and the deeper indented lines that hang on it, with the line that closes them.
- At the start of a line that begins a block (`indent`) the whole block goes, up to where the indentation ends.
- At the start of a later line (`block`) this line and what follows of its block go.
- In front of a line that stays directly below (`above`) one statement goes, as when somebody opens a line above code.
"""

import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from bench.quality.parsing import Parsed

Kind = Literal["indent", "dot", "paren", "equals", "word", "block", "above"]
KINDS: tuple[Kind, ...] = get_args(Kind)

PER_FILE = 4  # cursors
_LONGEST_LINE = 160  # code points that the author wrote at a cursor at most, on its line
_MOST_LINES = 60  # of a block that goes
_EARLIEST = 5  # lines above: before that there is nothing to go by

_PLACES: dict[Kind, re.Pattern[str]] = {
    "dot": re.compile(r"(?<=[\w)\]])\.(?=[A-Za-z_])"),
    "paren": re.compile(r"(?<=[\w)\] ])\((?=[^\s)])"),
    "equals": re.compile(r"(?<![=!<>+\-*/%&|^:~?])=(?=[^=>~\n]*\w)"),
    "word": re.compile(r"(?<=[A-Za-z_])(?=\w)"),
}
_CONTINUES = re.compile(r"(?:else|elif|except|finally|catch|while|case|default|rescue|ensure|when|end)\b|[)\]}.?:&|]")


@dataclass(frozen=True, slots=True)
class Cursor:
    """`before` and `after` are the document around the cursor; `wrote` stood between them.

    `in_brackets`: `after` begins, white space aside, with the closer of brackets that are open at the cursor.
    """

    path: Path
    language: str  # LSP id
    kind: Kind
    before: str
    wrote: str
    after: str
    in_brackets: bool = False


def draw(
    path: Path,
    language: str,
    parsed: Parsed,
    kinds: Sequence[Kind],
    dice: random.Random,
    *,
    most: int = PER_FILE,
    taken: Collection[int] = (),
) -> list[Cursor]:
    """At most one cursor of each of `kinds`, the first ones first and `most` in all, none at the offsets `taken`.

    They come in the order of the text. Kinds that the file has no place for are left out.
    """
    lines = _Lines(parsed)
    found: list[Cursor] = []
    for kind in kinds:
        if len(found) == most:
            break
        places = list(lines.places(kind))
        dice.shuffle(places)
        cursors = (lines.cursor(path, language, kind, place) for place in places)
        fits = (cursor for cursor in cursors if cursor is not None and len(cursor.before) not in taken)
        found += [cursor for cursor, _ in zip(fits, range(1), strict=False)]
    return sorted(found, key=lambda cursor: len(cursor.before))


def in_need(drawn: Counter[Kind]) -> list[Kind]:
    """The kinds, first those that there are fewest of."""
    return sorted(KINDS, key=lambda kind: (drawn[kind], KINDS.index(kind)))


class _Lines:
    """The lines of one file: where its cursors may stand and what goes there."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._text = parsed.text
        self._starts = [0, *(match.end() for match in re.finditer("\n", self._text))]
        self._lines = self._text.split("\n")
        self._indents = [len(line) - len(line.lstrip()) if line.strip() else None for line in self._lines]

    def places(self, kind: Kind) -> Iterator[tuple[int, int]]:
        """Line and column of all places of a kind, whether or not a cursor is possible there."""
        for number, line in enumerate(self._lines):
            indent = self._indents[number]
            if number < _EARLIEST or indent is None:
                continue
            if kind in _PLACES:
                for match in _PLACES[kind].finditer(line, indent):
                    yield number, match.end()
            elif self._fits(kind, number, indent):
                yield number, indent

    def cursor(self, path: Path, language: str, kind: Kind, place: tuple[int, int]) -> Cursor | None:
        """The cursor at a place; None where what would go is no whole statement, or is prose."""
        number, column = place
        start = self._starts[number] + column
        last = self._last_in_block(number) if kind in ("indent", "block") else self._last_of_statement(number)
        end = self._starts[last] + len(self._lines[last].rstrip())
        if self._parsed.is_prose(start) or self._starts_prose(start, kind):
            return None
        if last - number >= _MOST_LINES or self._goes_on(last, number):
            return None
        opened, closers = self._parsed.open_and_surplus(start, end)
        if opened or (closers and kind not in _PLACES):
            return None
        wrote = self._text[start : closers[0].start if closers else end].rstrip()
        line = wrote.partition("\n")[0]
        if not 1 < len(line.strip()) <= _LONGEST_LINE or not re.search(r"\w", line):
            return None
        after = self._text[start + len(wrote) :]
        return Cursor(path, language, kind, self._text[:start], wrote, after, in_brackets=bool(closers))

    def _fits(self, kind: Kind, number: int, indent: int) -> bool:
        above = next((i for i in reversed(self._indents[:number]) if i is not None), 0)
        if kind == "indent":
            return above < indent
        if kind == "block":
            return 0 < indent <= above
        last = self._last_of_statement(number)
        return indent <= above and self._indents[last + 1 : last + 2] == [indent]

    def _last_of_statement(self, number: int) -> int:
        """The last line that hangs on a line: those that are indented deeper, and what closes them."""
        indent, last = self._indents[number] or 0, number
        for below in range(number + 1, len(self._lines)):
            depth = self._indents[below]
            if depth is None:
                continue
            closes = depth == indent and last > number and self._lines[below][indent] in ")]}"
            if depth <= indent and not closes:
                break
            last = below
        return last

    def _last_in_block(self, number: int) -> int:
        indent, last = self._indents[number] or 0, number
        for below in range(number + 1, len(self._lines)):
            depth = self._indents[below]
            if depth is not None and depth < indent:
                break
            last = below if depth is not None else last
        return last

    def _goes_on(self, last: int, number: int) -> bool:
        """Whether the line below belongs to what went: `else`, or a chained call."""
        below = self._lines[last + 1] if last + 1 < len(self._lines) else ""
        same = len(below) - len(below.lstrip()) == self._indents[number]
        return same and bool(_CONTINUES.match(below.lstrip()))

    def _starts_prose(self, start: int, kind: Kind) -> bool:
        """Whether the first thing that went is prose: nobody can know what a comment says."""
        return kind not in _PLACES and self._parsed.is_prose(start + 1)
