"""The cells around a cell: all cells of a notebook, in their order, are one text to a model.

Written as notebooks are when they are turned into scripts: a blank line between cells, prose as comments. Knows nothing
of requests or of what may be a secret.
"""

from collections.abc import Sequence
from itertools import accumulate

from completion_server.protocol import MAX_AFTER, MAX_BEFORE
from lsp.context import plain
from lsp.document import Document
from lsp.window import BUDGET
from lsp.workspace import Cell

_BETWEEN = "\n\n"
_COMMENTS = {  # languages that notebooks are written in and whose comments do not begin with `#`
    **dict.fromkeys(
        ("javascript", "typescript", "java", "kotlin", "scala", "csharp", "fsharp", "cpp", "rust", "go"), "//"
    ),
    **dict.fromkeys(("sql", "haskell", "lua"), "--"),
    "matlab": "%",
}


class CellWindow:
    """Which cells above one cell are sent: all from a first one on, which moves as rarely as a `Window` does."""

    def __init__(self, budget: int = BUDGET, limit: int = MAX_BEFORE) -> None:
        self._budget = budget
        self._limit = limit
        self._first: str | None = None  # key of a document; None: the notebook's first cell

    def above(self, cells: Sequence[Cell], document: Document, column: int) -> str:
        """The text of `cells`, which stand above `document`, up to where that begins.

        `column` is how much of `document` is sent in front of the cursor, in code points.
        """
        texts = [_text(cell, document) + _BETWEEN for cell in cells]
        keys = [cell.document.key for cell in cells]
        first = keys.index(self._first) if self._first in keys else 0
        length = sum(map(len, texts[first:])) + column
        if length > self._limit or (first > 0 and length < self._budget // 2):
            lengths = accumulate(map(len, reversed(texts)), initial=column)
            fitting = sum(1 for length in lengths if length <= self._budget) - 1
            first = len(texts) - max(fitting, 0)
            self._first = keys[first] if 0 < first < len(keys) else None
        return "".join(texts[first:])


def below(cells: Sequence[Cell], document: Document) -> str:
    """The text of `cells`, which stand below `document`, from where that ends; at most `MAX_AFTER` code points."""
    parts: list[str] = []
    room = MAX_AFTER
    for cell in cells:
        if room <= 0:
            break
        parts.append(_BETWEEN + _text(cell, document))
        room -= len(parts[-1])
    return "".join(parts)[:MAX_AFTER]


def _text(cell: Cell, document: Document) -> str:
    """The text of a cell as it stands beside `document`: among code, prose is comments."""
    text = plain(str(cell.document.text)).strip("\n")
    if not cell.prose or document.language == cell.document.language:
        return text
    mark = _COMMENTS.get(document.language, "#")
    return "\n".join(f"{mark} {line}".rstrip() for line in text.split("\n"))
