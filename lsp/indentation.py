"""Brings a suggestion into the document's own indentation: tabs or spaces, and how many.

Models write four spaces where a file has tabs or two. Lines keep their depth relative to each other, and what is
aligned stays aligned. How a line is changed depends on the lines in front of it alone, so that text can be converted
as it comes in. Pure; line ends are `\\n`; knows nothing of languages.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_WIDTHS = (2, 3, 4, 8)
_USUAL = 4
_AGREEMENT = 0.8  # of all steps must have one width for it to be the document's
_LINES = 200  # above the cursor, and as many below, that the style is read from
_OPENS_BLOCK = re.compile(r"(?:[:{]|\b(?:then|do|else|begin)|[=-]>)\s*\Z")


@dataclass(frozen=True, slots=True)
class Style:
    """`width`: spaces of one step; None where the document has no one width. With tabs it means nothing."""

    tabs: bool
    width: int | None = None


def in_style(text: str, before: str, after: str) -> str:
    """`text`, to be inserted between `before` and `after`, indented as they are.

    Its first line goes on a line that exists and stays as it is.
    """
    first, newline, others = text.partition("\n")
    *above, line = before.rsplit("\n", _LINES)
    line += first
    style = style_of([*above[-_LINES + 1 :], line, *after.split("\n", _LINES)[1:]]) if newline else None
    if style is None:
        return text
    convert = _IntoTabs(line) if style.tabs else _IntoSpaces(line, style.width)
    return "\n".join([first, *map(convert.line, others.split("\n"))])


def style_of(lines: Iterable[str]) -> Style | None:
    """How `lines` are indented; None where none is."""
    tabs = spaces = last = 0
    steps: Counter[int] = Counter()
    for line in lines:
        body = line.lstrip(" \t")
        if not body:
            continue
        indent = len(line) - len(body)
        if line[0] == "\t":
            tabs += 1
        elif indent:
            spaces += 1
        if indent > last and line[0] != "\t":
            steps[indent - last] += 1
        last = indent
    if tabs + spaces == 0:
        return None
    if tabs > spaces:
        return Style(tabs=True)
    width, count = steps.most_common(1)[0] if steps else (0, 0)
    return Style(tabs=False, width=width if width in _WIDTHS and count >= _AGREEMENT * steps.total() else None)


class _IntoTabs:
    def __init__(self, line: str) -> None:
        self._levels = _split(line)[0].count("\t")
        self._last = line
        self._width: int | None = None  # spaces that the model takes for a step, once a line tells

    def line(self, line: str) -> str:
        space, body = _split(line)
        if not body:
            return line
        deeper = bool(_OPENS_BLOCK.search(self._last))
        self._last = body
        tabs, spaces = space.count("\t"), space.count(" ")
        if not spaces:
            self._levels = tabs
            return line
        if self._width is None:
            missing = self._levels + deeper - tabs
            self._width = spaces // missing if missing > 0 and spaces % missing == 0 else None
            if self._width not in _WIDTHS:
                self._width = None
        if tabs and self._width is None:
            return line  # aligned behind its tabs
        levels, aligned = divmod(spaces, self._width or _USUAL)
        self._levels = tabs + levels
        return "\t" * self._levels + " " * aligned + body


class _IntoSpaces:
    def __init__(self, line: str, width: int | None) -> None:
        self._width = width
        self._base = len(_split(line)[0])
        self._column, self._last = self._base, line
        self._step: int | None = None  # of the model, once it is known to differ

    def line(self, line: str) -> str:
        space, body = _split(line)
        if not body:
            return line
        column = len(space.replace("\t", " " * (self._width or _USUAL)))
        step = column - self._column
        if self._step is None and self._width and step in _WIDTHS and _OPENS_BLOCK.search(self._last):
            self._step = step
        self._column, self._last = column, body
        if self._step and self._width and column > self._base:
            levels, aligned = divmod(column - self._base, self._step)
            column = self._base + levels * self._width + aligned
        return " " * column + body


def _split(line: str) -> tuple[str, str]:
    body = line.lstrip(" \t")
    return line[: len(line) - len(body)], body
