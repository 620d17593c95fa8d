"""Documents by URI, and their paths."""

from lsprotocol import types

from lsp.document import Document
from lsp.workspace import Workspace


def workspace(root: str | None = "file:///home/me/pro%20ject", folders: tuple[str, ...] = ()) -> Workspace:
    wire = [types.WorkspaceFolder(uri=uri, name="f") for uri in folders]
    return Workspace(root, wire, "utf-16", lambda _: None)


def opened(space: Workspace, uri: str, text: str = "") -> Document:
    space.put_text_document(types.TextDocumentItem(uri, "python", 1, text))
    document = space.find(uri)
    assert document is not None
    return document


def test_a_document_is_found_however_its_uri_is_encoded() -> None:
    space = workspace()
    document = opened(space, "file:///c%3A/a%20b.py")
    assert space.find("file:///c:/a b.py") is document
    assert space.find("file:///c:/other.py") is None


def test_paths_are_relative_to_the_innermost_folder() -> None:
    space = workspace(folders=("file:///home/me", "file:///home/me/pro%20ject/lib"))
    assert space.relative_path(opened(space, "file:///home/me/pro%20ject/lib/a.py")) == "a.py"
    assert space.relative_path(opened(space, "file:///home/me/pro%20ject/b.py")) == "b.py"
    assert space.relative_path(opened(space, "file:///home/me/c/d.py")) == "c/d.py"
    assert space.relative_path(opened(space, "file:///elsewhere/e.py")) == "e.py"
    assert workspace(root=None).relative_path(opened(space, "untitled:Untitled-1")) == "Untitled-1"


def test_a_document_that_is_opened_again_is_another_one() -> None:
    space = workspace()
    first = opened(space, "file:///a.py", "one")
    second = opened(space, "file:///a.py", "two")
    assert first.closed
    assert first.key != second.key
    assert str(second.text) == "two"


def test_changes_of_a_document_that_is_not_open_are_ignored() -> None:
    space = workspace()
    change = types.TextDocumentContentChangeWholeDocument("x")
    space.update_text_document(types.VersionedTextDocumentIdentifier(2, "file:///a.py"), change)
    space.remove_text_document("file:///a.py")
    assert space.find("file:///a.py") is None


def test_who_wants_to_know_hears_of_every_document_that_is_closed() -> None:
    closed: list[Document] = []
    space = Workspace(None, [], "utf-16", closed.append)
    document = opened(space, "file:///a.py")
    space.remove_text_document("file:///a.py")
    space.remove_text_document("file:///a.py")
    assert closed == [document]
