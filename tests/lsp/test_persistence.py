"""How much of an accepted text is still there: the range follows every edit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from lsp.document import Document
from lsp.persistence import Persistence
from lsp.text import Position


def watched(text: str, accepted: str) -> tuple[Document, Persistence]:
    """`accepted` stands where `text` has it, since second 0."""
    document = Document("d1", "file:///a.py", text, encoding="utf-32")
    persistence = Persistence()
    document.listen(lambda edit: persistence.on_edit(document, edit))
    head = text[: text.index(accepted)]
    start = Position(head.count("\n"), len(head.rpartition("\n")[2]))
    assert persistence.watch("s1", document, start, accepted, 0.0)
    return document, persistence


def replace(document: Document, start: int, end: int, new: str) -> None:
    """Code points of the whole text; line ends are `\\n`."""
    places = [document.text.forward(Position(0, 0), at) for at in (start, end)]
    span = types.Range(*(document.wire_position(place) for place in places))
    document.apply_change(types.TextDocumentContentChangePartial(span, new))


def test_it_is_looked_at_twice() -> None:
    _, persistence = watched("x = foo(bar)\n", "foo(bar)")
    assert persistence.next_due() == 30.0
    assert list(persistence.due(29.9)) == []
    assert list(persistence.due(30.0)) == [("s1", "30s", 8)]
    assert persistence.next_due() == 120.0
    assert list(persistence.due(500.0)) == [("s1", "2min", 8)]
    assert persistence.next_due() is None


@pytest.mark.parametrize(
    ("edit", "kept"),
    [
        ((0, 0, "# more\n"), 8),  # above
        ((12, 12, ".x"), 8),  # right behind
        ((4, 4, "await "), 8),  # right in front
        ((8, 11, "b"), 5),  # within: `foo(b`; one `)` alone could be chance
        ((4, 12, ""), 0),
        ((0, 13, "x = foo(bar)\n"), 8),  # all of it written anew, by a formatter
        ((2, 8, ""), 4),  # over its beginning: `bar)`
    ],
)
def test_edits(edit: tuple[int, int, str], kept: int) -> None:
    document, persistence = watched("x = foo(bar)\n", "foo(bar)")
    replace(document, *edit)
    [(_, _, found)] = persistence.due(30.0)
    assert found == kept


def test_text_that_does_not_stand_there_is_not_watched() -> None:
    document = Document("d1", "file:///a.py", "x = 1", encoding="utf-32")
    persistence = Persistence()
    assert not persistence.watch("s1", document, Position(0, 4), "12", 0.0)
    assert not persistence.watch("s1", document, Position(7, 0), "1", 0.0)
    assert not persistence.watch("s1", document, Position(0, 4), "", 0.0)
    assert persistence.next_due() is None


def test_a_closed_document_is_forgotten_and_a_second_take_begins_anew() -> None:
    document, persistence = watched("x = foo(bar)\n", "foo")
    assert persistence.watch("s1", document, Position(0, 4), "foo(bar)", 20.0)
    assert persistence.next_due() == 50.0
    persistence.forget(document)
    assert persistence.next_due() is None


def test_a_long_text_is_compared_by_lines() -> None:
    lines = [f"line number {number} of a long text" for number in range(200)]
    document, persistence = watched("\n".join(lines) + "\n", "\n".join(lines))
    replace(document, 0, 5, "")
    [(_, _, kept)] = persistence.due(30.0)
    assert kept == sum(map(len, lines[1:]))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6), st.text("ab\n", max_size=3)), max_size=8))
def test_no_more_is_kept_than_was_accepted(edits: list[tuple[int, int, str]]) -> None:
    document, persistence = watched("a = bb\nab(ba)\nbb\n", "bb\nab(")
    for start, length, new in edits:
        size = len(str(document.text))
        replace(document, min(start, size), min(start + length, size), new)
    [(_, _, kept)] = persistence.due(30.0)
    assert 0 <= kept <= len("bb\nab(")
