"""How much of an accepted text is still there after a while: its range is carried through the edits of its document.

Holds text of documents, in memory, as long as it watches it. Times are seconds of any clock.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from lsp.context import plain
from lsp.document import Document
from lsp.text import Edit, Position

Age = Literal["30s", "2min"]
AGES: tuple[tuple[float, Age], ...] = ((30.0, "30s"), (120.0, "2min"))

_MOST = 64  # texts that are watched at a time
_RUN = 3  # equal characters in a row that are no chance
_ALIKE = 4_096  # code points of a text that are compared character by character


@dataclass(slots=True)
class _Watched:
    id: str
    document: Document
    text: str
    start: Position
    end: Position
    since: float
    looked: int = 0  # ages that were looked at

    @property
    def due(self) -> float:
        return self.since + AGES[self.looked][0]


class Persistence:
    """Of the accepted texts of all documents."""

    def __init__(self) -> None:
        self._watched: dict[str, _Watched] = {}

    def watch(self, id: str, document: Document, start: Position, text: str, now: float) -> bool:  # noqa: A002
        """Begin with `text`, with `\\n` line ends, which stands at `start`; False if it does not stand there.

        Under an `id` that is watched already, its time begins anew.
        """
        lines = text.split("\n")
        end = Position(start.line + len(lines) - 1, len(lines[-1]) + (start.column if len(lines) == 1 else 0))
        if not text or end > document.text.end or plain(document.text.slice(start, end)) != text:
            return False
        self._watched.pop(id, None)
        self._watched[id] = _Watched(id, document, text, start, end, now)
        if len(self._watched) > _MOST:
            del self._watched[next(iter(self._watched))]
        return True

    def on_edit(self, document: Document, edit: Edit) -> None:
        for item in self._watched.values():
            if item.document is document:
                # Where the edit took an end of the range away, the range ends where the new text does.
                item.start = edit.carry(item.start) or edit.start
                item.end = edit.carry(item.end) or edit.new_end

    def forget(self, document: Document) -> None:
        """It was closed: what will become of its texts is not known."""
        self._watched = {item.id: item for item in self._watched.values() if item.document is not document}

    def next_due(self) -> float | None:
        return min((item.due for item in self._watched.values()), default=None)

    def due(self, now: float) -> Iterator[tuple[str, Age, int]]:
        """What is to be told by `now`: id, age, and how many characters are still there."""
        for item in list(self._watched.values()):
            while item.id in self._watched and item.due <= now:
                age = AGES[item.looked][1]
                yield item.id, age, _kept(item.text, plain(item.document.text.slice(item.start, item.end)))
                item.looked += 1
                if item.looked == len(AGES):
                    del self._watched[item.id]


def _kept(text: str, there: str) -> int:
    """How many characters of `text` are in `there`, in their order; by whole lines where much must be compared."""
    if text in there:
        return len(text)
    if max(len(text), len(there)) > _ALIKE:
        lines = Counter(line.strip() for line in there.split("\n"))
        lines &= Counter(line.strip() for line in text.split("\n"))
        return min(len(text), sum(len(line) * count for line, count in lines.items()))
    blocks = SequenceMatcher(None, text, there, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size >= min(_RUN, len(text)))
