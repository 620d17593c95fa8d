"""What belongs to a document without being in it: the cells of its notebook, and pieces of other open documents.

One for each editor, because what is near depends on where somebody has been. Secrets never get in.
"""

from collections.abc import Callable, Iterable

from lsp.context import Around
from lsp.document import Document
from lsp.notebook import CellWindow, below
from lsp.snippets import Snippets, Source
from lsp.text import Position
from lsp.workspace import Cell


class Neighbours:
    """`cells` gives a document's notebook (see `Workspace.cells`), `source` what is known of an open document, and
    `sources` all that are open."""

    def __init__(
        self,
        cells: Callable[[Document], list[Cell]],
        source: Callable[[str], Source | None],
        sources: Callable[[], Iterable[Source]],
    ) -> None:
        self._cells = cells
        self._source = source
        self._snippets = Snippets(sources)
        self._windows: dict[str, CellWindow] = {}

    def around(self, document: Document, cursor: Position, *, snippets: bool = True) -> Around:
        """What goes into the context of `cursor`; without `snippets`, the notebook alone."""
        cells = self._cells(document)
        own = frozenset(cell.document.key for cell in cells)
        pieces = self._snippets.for_document(document, cursor, own) if snippets else ()
        if not cells:
            return Around(snippets=pieces)
        here = next(number for number, cell in enumerate(cells) if cell.document is document)
        window = self._windows.setdefault(document.key, CellWindow())
        column = document.text.length(Position(0, 0), cursor)
        above = window.above(self._sendable(cells[:here], document), document, column)
        return Around(above, below(self._sendable(cells[here + 1 :], document), document), pieces)

    def forget(self, document: Document) -> None:
        """The document was closed."""
        self._windows.pop(document.key, None)
        self._snippets.forget(document)

    def _sendable(self, cells: list[Cell], document: Document) -> list[Cell]:
        """Without secrets, and without code in another language than `document`'s."""
        return [cell for cell in cells if self._is_sendable(cell, document)]

    def _is_sendable(self, cell: Cell, document: Document) -> bool:
        source = self._source(cell.document.uri)
        if source is None or source.excluded:
            return False
        return cell.prose or cell.document.language == document.language or document.language == "markdown"
