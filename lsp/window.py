"""Where the text that is sent with a request begins: a place that moves rarely.

The engine keeps the keys and values of all text that stays equal from its first character on, so a start that slides
with the cursor would cost a whole prefill on every Enter. It grows to 1.5 times its budget and then goes back to once.
Knows nothing of requests.
"""

from completion_server.protocol import MAX_BEFORE
from lsp.text import Edit, Position, Text

BUDGET = MAX_BEFORE * 2 // 3  # code points in front of the cursor, right after the start was set


class Window:
    """The start for one document. `limit` is never passed; with less than half a budget left it is set anew."""

    def __init__(self, text: Text, budget: int = BUDGET, limit: int = MAX_BEFORE) -> None:
        self._text = text
        self._budget = budget
        self._limit = limit
        self._start: Position | None = None

    def start(self, cursor: Position) -> Position:
        """Where the text in front of `cursor` begins: a line start, unless one line is longer than the budget."""
        start = self._start
        if start is None or not self._keeps(start, cursor):
            start = self._start = self._choose(cursor)
        return start

    def on_edit(self, edit: Edit) -> None:
        """Keep the start on its text; an edit that replaces that text makes the next request choose anew."""
        if self._start is not None and self._start != Position(0, 0):
            self._start = edit.carry(self._start)

    def _keeps(self, start: Position, cursor: Position) -> bool:
        if start > cursor:
            return False
        length = self._text.length(start, cursor)
        return length <= self._limit and (start == Position(0, 0) or length >= self._budget // 2)

    def _choose(self, cursor: Position) -> Position:
        earliest = self._text.back(cursor, self._budget)
        latest = self._text.back(cursor, self._budget // 2)
        first = earliest.line + (1 if earliest.column else 0)
        # A token may reach over a line end into the white space behind it, never into anything else.
        lines = [number for number in range(first, latest.line + 1) if Position(number, 0) <= latest]
        starts = (number for number in lines if self._begins_block(number))
        number = next(starts, lines[0] if lines else None)
        return earliest if number is None else Position(number, 0)

    def _begins_block(self, number: int) -> bool:
        first = self._text.line(number)[:1]
        return number == 0 or not (first == "" or first.isspace())
