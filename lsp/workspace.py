"""The workspace of pygls with documents of our own in it.

Cells of a notebook are documents like any other. A document that the client has not opened is never read from disk.
"""

import os
from collections.abc import Callable
from itertools import count
from pathlib import PurePosixPath
from typing import cast
from urllib.parse import unquote

from lsprotocol import types
from pygls import workspace as pygls_workspace

from lsp.document import Document, split_uri
from lsp.positions import Encoding

OnClose = Callable[[Document], None]


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

    def relative_path(self, document: Document) -> str:
        """The document's path below the innermost workspace folder that holds it, else its file name."""
        path = PurePosixPath(document.path)
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


def paths_of(document: Document) -> tuple[str, ...]:
    """All paths by which the document may be a secret: what its URI can mean, and where a link leads."""
    paths = document.possible_paths
    if document.scheme != "file":
        return paths
    try:
        return *paths, *map(os.path.realpath, paths)
    except (OSError, ValueError):  # no path for this system: too long, or with a NUL
        return paths
