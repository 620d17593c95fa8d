"""The documents of a trace, kept while it is read: whether each action can be done as the ones before it left them."""

from bench.replay.actions import Accept, Action, Close, Delete, Insert, Move, Open, Switch
from lsp.text import Position, Text

MOST_OPEN = 1_000


class TraceFault(Exception):
    """What is wrong with a line, and what is allowed there. Never leaves the reading of traces."""


class _Document:
    def __init__(self, text: str) -> None:
        self.text = Text(text)
        self.version = 1
        self.cursor = Position(0, 0)


class Documents:
    """`do` goes along with the actions."""

    def __init__(self) -> None:
        self._open: dict[str, _Document] = {}
        self._name = ""
        self._at = 0.0

    def do(self, action: Action, version: int | None = None) -> int | None:
        """The version of the document behind `action`, None where it has none. `version` is what the line says it is.

        Raises `TraceFault` if the action cannot be done here, or its version is another one.
        """
        if action.at < self._at:
            raise TraceFault(f"time goes back; the line before is at {self._at:g}")
        self._at = action.at
        match action:
            case Open():
                self._begin(action)
            case Switch(document=name):
                self._name = self._known(name)
                return None
            case Close(document=name):
                del self._open[self._known(name)]
                return None
            case Move(line=line, column=column):
                self._move(self._current(), line, column)
                return None
            case Insert(text=text) | Accept(text=text):
                self._replace(self._current().cursor, text)
            case Delete(count=count):
                self._delete(count)
        return self._checked(self._current(), version)

    def _begin(self, action: Open) -> None:
        if action.document in self._open:
            raise TraceFault("this document is open; switch to it")
        if len(self._open) >= MOST_OPEN:
            raise TraceFault(f"at most {MOST_OPEN} documents may be open")
        self._name = action.document
        document = self._open[self._name] = _Document(action.text)
        self._move(document, action.line, action.column)

    def _move(self, document: _Document, line: int, column: int) -> None:
        lines = document.text.line_count
        if line >= lines or column > len(document.text.line(line)):
            raise TraceFault(f"the cursor would be outside of the document, which has {lines} lines")
        document.cursor = Position(line, column)

    def _delete(self, count: int) -> None:
        document = self._current()
        start = document.text.back(document.cursor, count)
        if document.text.length(start, document.cursor) != count:
            raise TraceFault("fewer characters stand in front of the cursor")
        self._replace(start, "")

    def _replace(self, start: Position, text: str) -> None:
        document = self._current()
        document.cursor = document.text.replace(start, document.cursor, text).new_end
        document.version += 1

    def _current(self) -> _Document:
        if self._name not in self._open:
            raise TraceFault("no document is in front; open one or switch to one")
        return self._open[self._name]

    def _known(self, name: str) -> str:
        if name not in self._open:
            raise TraceFault("this document is not open")
        return name

    def _checked(self, document: _Document, version: int | None) -> int:
        if version is not None and version != document.version:
            raise TraceFault(f'"version" must be {document.version}: 1 when opened, one more for each edit')
        return document.version
