"""The text of one document as a list of lines, so that an edit costs what it touches and not what the file is long.

Line ends are those of LSP, `\\n`, `\\r\\n` and `\\r`, and no others: a form feed or U+2028 is an ordinary character.
Positions are (line, column) in code points. Knows nothing of clients, encodings or pygls.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")


class Position(NamedTuple):
    """Zero-based line, and column in code points. Orders as in the text."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """What one change did: the text of `start..old_end` gave way to a text that now ends at `new_end`."""

    start: Position
    old_end: Position
    new_end: Position

    def carry(self, position: Position) -> Position | None:
        """Where `position` is after the edit; None if the text around it was replaced."""
        if position <= self.start:
            return position
        if position < self.old_end:
            return None
        if position.line > self.old_end.line:
            return Position(position.line + self.new_end.line - self.old_end.line, position.column)
        return Position(self.new_end.line, self.new_end.column + position.column - self.old_end.column)


class Text:
    """Mutable. Each line carries its line end; the last one has none and may be empty."""

    def __init__(self, source: str = "") -> None:
        self._lines = _split(_pair_up(source))

    def __str__(self) -> str:
        return "".join(self._lines)

    @property
    def line_count(self) -> int:
        return len(self._lines)

    @property
    def end(self) -> Position:
        return Position(len(self._lines) - 1, len(self._lines[-1]))

    def line(self, number: int) -> str:
        """Line `number` without its line end."""
        return self._lines[number].rstrip("\r\n")

    def line_end(self, number: int) -> str:
        r"""The line end of line `number`: `\n`, `\r\n`, `\r`, or the empty string on the last line."""
        line = self._lines[number]
        return line[len(line.rstrip("\r\n")) :]

    def eol_near(self, number: int) -> str:
        r"""The line end to write at line `number`: its own, else that of the line above, else `\n`."""
        return self.line_end(number) or (self.line_end(number - 1) if number else "") or "\n"

    def slice(self, start: Position, end: Position) -> str:
        """The text between two positions, line ends as they are in the document."""
        if end <= start:
            return ""
        if start.line == end.line:
            return self._lines[start.line][start.column : end.column]
        first = self._lines[start.line][start.column :]
        return "".join([first, *self._lines[start.line + 1 : end.line], self._lines[end.line][: end.column]])

    def length(self, start: Position, end: Position) -> int:
        """Code points between two positions, line ends counted; costs the lines between, not their text."""
        return sum(map(len, self._lines[start.line : end.line])) - start.column + end.column

    def back(self, position: Position, budget: int) -> Position:
        """The earliest position at most `budget` code points in front of `position`."""
        left = budget - position.column
        if left < 0:
            return Position(position.line, -left)
        number = position.line
        while number > 0 and len(self._lines[number - 1]) <= left:
            number -= 1
            left -= len(self._lines[number])
        if number == 0:
            return Position(0, 0)
        column = len(self._lines[number - 1]) - left
        # No position is inside a line end or behind it on the same line.
        return Position(number - 1, column) if column <= len(self.line(number - 1)) else Position(number, 0)

    def forward(self, position: Position, budget: int) -> Position:
        """The latest position at most `budget` code points behind `position`, in front of a line end."""
        left = budget + position.column
        number = position.line
        while number < len(self._lines) - 1 and len(self._lines[number]) <= left:
            left -= len(self._lines[number])
            number += 1
        return Position(number, min(left, len(self.line(number))))

    def replace(self, start: Position, end: Position, new: str) -> Edit:
        """Put `new` in place of the text between `start` and `end`; both must be positions of this text."""
        first, last = start.line, end.line
        head = self._lines[first][: start.column]
        joined = _pair_up(head + new + self._lines[last][end.column :])
        if first > 0 and not head and joined.startswith("\n") and self._lines[first - 1].endswith("\r"):
            first -= 1  # the two characters became one line end
            joined = self._lines[first] + joined
        lines = _split(joined)
        if last < len(self._lines) - 1:
            lines.pop()  # `joined` ended with a line end: the empty rest is where the next line begins
        # The end of the new text is as far from the end of its line as the end of the old one was.
        tail = len(self._lines[last]) - end.column
        self._lines[first : last + 1] = lines
        new_last = first + len(lines) - 1
        column = min(max(len(self._lines[new_last]) - tail, 0), len(self.line(new_last)))
        return Edit(start, end, Position(new_last, column))

    def replace_all(self, new: str) -> Edit:
        """Put `new` in place of everything."""
        old_end = self.end
        self._lines = _split(_pair_up(new))
        return Edit(Position(0, 0), old_end, self.end)


def _split(source: str) -> list[str]:
    lines, start = [], 0
    for line_end in _LINE_END.finditer(source):
        lines.append(source[start : line_end.end()])
        start = line_end.end()
    lines.append(source[start:])
    return lines


def _pair_up(source: str) -> str:
    """Join surrogate halves that came in two pieces, so that a column counts characters."""
    try:
        source.encode()
    except UnicodeEncodeError:
        return source.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return source
