"""What the model said at one place, kept right while the document is edited.

A suggestion holds from its anchor on. As long as every edit falls into the text that came in behind the anchor, what
stands between the anchor and the cursor is what was typed since, and if that is the head of the suggestion its rest is
still the answer. Any other edit ends it. Knows nothing of engines or LSP.
"""

from collections import deque

from lsp.context import plain
from lsp.text import Edit, Position, Text

_CLOSERS = frozenset(")]}>\"'`; \t")
_MOST_CLOSERS = 8


class Suggestion:
    """`text` is the model's own, before trimming, with `\\n` line ends; None until it is known."""

    def __init__(self, anchor: Position, text: str | None = None) -> None:
        self.anchor = anchor
        self.end = anchor  # behind all that came in at the anchor since
        self.text = text
        self.alive = True

    def on_edit(self, edit: Edit) -> None:
        if not (self.anchor <= edit.start and edit.old_end <= self.end):
            self.alive = False
            return
        self.end = edit.new_end if edit.old_end == self.end else edit.carry(self.end) or self.anchor

    def rest(self, document: Text, cursor: Position) -> str | None:
        """What is left of the suggestion behind `cursor`; None where it does not hold."""
        if not self.alive or self.text is None or not self.anchor <= cursor <= self.end:
            return None
        behind = document.slice(cursor, self.end)
        if len(behind) > _MOST_CLOSERS or not _CLOSERS.issuperset(behind):
            return None  # more than the closers that an editor inserts by itself
        typed = plain(document.slice(self.anchor, cursor))
        return self.text[len(typed) :] if self.text.startswith(typed) else None


class Shelf:
    """The last few suggestions of one document, so that backspace brings back what was there."""

    def __init__(self, size: int = 4) -> None:
        self._kept: deque[Suggestion] = deque(maxlen=size)

    def put(self, suggestion: Suggestion) -> None:
        self._kept.appendleft(suggestion)

    def on_edit(self, edit: Edit) -> None:
        for suggestion in self._kept:
            suggestion.on_edit(edit)
        if not all(suggestion.alive for suggestion in self._kept):
            self._kept = deque((s for s in self._kept if s.alive), maxlen=self._kept.maxlen)

    def rests(self, document: Text, cursor: Position) -> list[str]:
        """What holds at `cursor`, newest first."""
        found = (suggestion.rest(document, cursor) for suggestion in self._kept)
        return [rest for rest in found if rest]
