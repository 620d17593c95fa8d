"""What the model said at one place, kept right while the document is edited.

A suggestion holds from its anchor on. As long as every edit falls into the text that came in behind the anchor, what
stands between the anchor and the cursor is what was typed since, and if that is the head of the suggestion its rest is
still the answer. Any other edit ends it. Knows nothing of engines or LSP.
"""

from collections import deque
from collections.abc import Iterator

from completion_server.protocol import TokenScore
from lsp.context import plain
from lsp.text import Edit, Position, Text

_CLOSERS = frozenset(")]}>\"'`; \t")
_MOST_CLOSERS = 8


class Suggestion:
    """`text` is the model's own, before trimming, with `\\n` line ends; None until it is known.

    `id` is the one by which a client knows it, however much of it was typed by then.
    """

    def __init__(self, anchor: Position, text: str | None = None, id: str = "") -> None:  # noqa: A002
        self.id = id
        self.anchor = anchor
        self.end = anchor  # behind all that came in at the anchor since
        self.text = text
        self.scores: tuple[TokenScore, ...] = ()  # of `text`
        self.whole = True  # with `text` the document has no more faults than it would have without the cursor's line
        self.alive = True
        self.invoked = False  # asked for by hand: its alternatives were asked for too
        self.offered = False  # a client was sent it

    def sibling(self, text: str, id: str) -> "Suggestion":  # noqa: A002
        """Another suggestion for the same place."""
        other = Suggestion(self.anchor, text, id)
        other.end, other.alive, other.invoked = self.end, self.alive, self.invoked
        return other

    def on_edit(self, edit: Edit) -> None:
        if not (self.anchor <= edit.start and edit.old_end <= self.end):
            self.alive = False
            return
        self.end = edit.new_end if edit.old_end == self.end else edit.carry(self.end) or self.anchor

    def typed(self, document: Text, cursor: Position) -> str | None:
        """What came in between the anchor and `cursor`; None where no suggestion of this place can go on there."""
        if not self.alive or not self.anchor <= cursor <= self.end:
            return None
        behind = document.slice(cursor, self.end)
        if len(behind) > _MOST_CLOSERS or not _CLOSERS.issuperset(behind):
            return None  # more than the closers that an editor inserts by itself
        return plain(document.slice(self.anchor, cursor))

    def rest(self, document: Text, cursor: Position) -> str | None:
        """What is left of the suggestion behind `cursor`; None where it does not hold."""
        typed = self.typed(document, cursor)
        if self.text is None or typed is None or not self.text.startswith(typed):
            return None
        return self.text[len(typed) :]

    def places(self, document: Text) -> Iterator[Position]:
        """Where the cursor may be, if nobody says: behind all that came in, or in front of closers at its end."""
        place = self.end
        for _ in range(_MOST_CLOSERS + 1):
            yield place
            before = document.back(place, 1)
            if before < self.anchor or document.slice(before, place) not in _CLOSERS:
                return
            place = before


class Shelf:
    """The last few suggestions of one document, so that backspace brings back what was there."""

    def __init__(self, size: int = 6) -> None:
        self._kept: deque[Suggestion] = deque(maxlen=size)

    def put(self, suggestion: Suggestion) -> None:
        """Keep `suggestion`, in front of all others; also one that is there already."""
        if suggestion in self._kept:
            self._kept.remove(suggestion)
        self._kept.appendleft(suggestion)

    def find(self, id: str) -> Suggestion | None:  # noqa: A002
        return next((suggestion for suggestion in self._kept if suggestion.id == id), None)

    def on_edit(self, edit: Edit) -> None:
        for suggestion in self._kept:
            suggestion.on_edit(edit)
        if not all(suggestion.alive for suggestion in self._kept):
            self._kept = deque((s for s in self._kept if s.alive), maxlen=self._kept.maxlen)

    def holding(self, document: Text, cursor: Position) -> list[Suggestion]:
        """Those with a rest at `cursor`, newest first."""
        return [suggestion for suggestion in self._kept if suggestion.rest(document, cursor)]
