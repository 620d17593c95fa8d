"""The workspace of pygls with documents of our own in it.

Cells of a notebook are documents like any other, and know their notebook. A document that the client has not opened is
never read from disk.
"""

import os
from collections.abc import Callable
from itertools import count
from pathlib import PurePosixPath
from typing import NamedTuple, cast
from urllib.parse import unquote

from lsprotocol import types
from pygls import workspace as pygls_workspace

from lsp.document import Document, possible_paths, split_uri
from lsp.positions import Encoding

OnClose = Callable[[Document], None]


class Cell(NamedTuple):
    """A cell of a notebook; `prose` says that it holds no code."""

    document: Document
    prose: bool


class Workspace(pygls_workspace.Workspace):
    """`on_close` is told of every document that was closed, cells of a notebook too."""

    def __init__(
        self,
        root_uri: str | None,
        folders: list[types.WorkspaceFolder],
        encoding: Encoding,
        on_close: OnClose,
    ) -> None:
        super().__init__(root_uri, workspace_folders=folders, position_encoding=encoding)
        self._encoding = encoding
        self._on_close = on_close
        self._serial = count(1)

    def find(self, uri: str) -> Document | None:
        """The open document with this URI, however it is percent-encoded."""
        return cast(Document | None, self._text_documents.get(unquote(uri)))

    def cells(self, document: Document) -> list[Cell]:
        """All cells of the notebook that `document` is a cell of, in their order; none if it is no cell."""
        notebook = self.get_notebook_document(cell_uri=document.uri)
        cells = notebook.cells if notebook else []
        found = ((self.find(cell.document), cell.kind == types.NotebookCellKind.Markup) for cell in cells)
        return [Cell(document, prose) for document, prose in found if document is not None]

    def paths_of(self, document: Document) -> tuple[str, ...]:
        """All paths by which the document, or the notebook that it is a cell of, may be a secret."""
        notebook = self.get_notebook_document(cell_uri=document.uri)
        return *_paths(document.uri), *(_paths(notebook.uri) if notebook else ())

    def relative_path(self, document: Document) -> str:
        """The document's path below the innermost workspace folder that holds it, else its file name.

        The path of a notebook's cell is the notebook's.
        """
        notebook = self.get_notebook_document(cell_uri=document.uri)
        path = PurePosixPath(split_uri(notebook.uri)[1] if notebook else document.path)
        roots = [folder.uri for folder in self.folders.values()]
        roots += [self.root_uri] if self.root_uri else []
        inside = [root for root in (PurePosixPath(split_uri(uri)[1]) for uri in roots) if path.is_relative_to(root)]
        if not inside:
            return path.name
        return str(path.relative_to(max(inside, key=lambda root: len(root.parts))))

    def put_text_document(self, text_document: types.TextDocumentItem, notebook_uri: str | None = None) -> None:
        self.remove_text_document(text_document.uri)  # opened twice: the first one is gone
        super().put_text_document(text_document, notebook_uri)

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        if document := self.find(text_doc.uri):
            document.version = text_doc.version  # before the listeners hear of the edit
            document.apply_change(change)

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        if self.get_notebook_document(notebook_uri=params.notebook_document.uri) is not None:
            super().update_notebook_document(params)

    def remove_text_document(self, doc_uri: str) -> None:
        document = self.find(doc_uri)
        super().remove_text_document(doc_uri)
        if document is not None:
            document.closed = True
            self._on_close(document)

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> pygls_workspace.TextDocument:
        document = Document(
            key=f"d{next(self._serial)}",
            uri=doc_uri,
            source=source or "",
            version=version or 0,
            language=language_id or "",
            encoding=self._encoding,
        )
        # pygls itself calls only `apply_change` and sets `version`.
        return cast(pygls_workspace.TextDocument, document)


def _paths(uri: str) -> tuple[str, ...]:
    """What a URI can mean, and where a link leads."""
    paths = possible_paths(uri)
    if split_uri(uri)[0] != "file":
        return paths
    try:
        return *paths, *map(os.path.realpath, paths)
    except (OSError, ValueError):  # no path for this system: too long, or with a NUL
        return paths
