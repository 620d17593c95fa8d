"""Edits as they come over the wire, in all three encodings."""

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from lsp.document import Document
from lsp.positions import Encoding, units_of

SOURCE = st.text(st.sampled_from("aé😀漢\n\n\r\r\u2028\x0c"), max_size=30)
ENCODING: st.SearchStrategy[Encoding] = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@given(SOURCE, SOURCE, st.data(), ENCODING)
def test_a_ranged_change_equals_the_splice(source: str, new: str, data: st.DataObject, encoding: Encoding) -> None:
    document = Document("d1", "file:///a.py", source, encoding=encoding)
    places = [(line, column) for line, text in enumerate(lines_of(source)) for column in range(len(text) + 1)]
    start, end = sorted(data.draw(st.tuples(st.sampled_from(places), st.sampled_from(places))))
    wire_range = types.Range(*(wire(source, place, encoding) for place in (start, end)))
    document.apply_change(types.TextDocumentContentChangePartial(wire_range, new))
    assert str(document.text) == source[: offset(source, start)] + new + source[offset(source, end) :]


def test_a_range_that_is_the_wrong_way_round_is_turned() -> None:
    document = Document("d1", "file:///a.py", "abc")
    wire_range = types.Range(types.Position(0, 2), types.Position(0, 1))
    document.apply_change(types.TextDocumentContentChangePartial(wire_range, "X"))
    assert str(document.text) == "aXc"


def test_positions_out_of_range_are_clamped() -> None:
    document = Document("d1", "file:///a.py", "ab\r\ncd")
    assert document.position(types.Position(0, 99)) == (0, 2)
    assert document.position(types.Position(9, 0)) == (1, 2)


def test_a_change_without_a_range_is_the_whole_text() -> None:
    document = Document("d1", "file:///a.py", "ab\ncd")
    document.apply_change(types.TextDocumentContentChangeWholeDocument("x\ry"))
    assert str(document.text) == "x\ry"
    assert document.text.line_count == 2


def test_uris_are_decoded() -> None:
    document = Document("d1", "file:///home/a%20b/%C3%BC%23.py")
    assert document.scheme == "file"
    assert document.path == "/home/a b/ü#.py"


def lines_of(source: str) -> list[str]:
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def offset(source: str, place: tuple[int, int]) -> int:
    line, at = 0, 0
    while line < place[0]:
        at += 2 if source.startswith("\r\n", at) else 1
        line += source[at - 1] in "\r\n"
    return at + place[1]


def wire(source: str, place: tuple[int, int], encoding: Encoding) -> types.Position:
    return types.Position(place[0], units_of(lines_of(source)[place[0]], place[1], encoding))
