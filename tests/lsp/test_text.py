"""The line list against a plain string."""

import re

from hypothesis import given
from hypothesis import strategies as st

from lsp.text import Edit, Position, Text

LINE_ENDS = re.compile(r"\r\n|\r|\n")
SOURCE = st.text(st.sampled_from("aé😀 \n\n\r\r\x0b\x0c\x1c\u2028\x85"))


def test_only_the_line_ends_of_lsp_count() -> None:
    text = Text("a\x0bb\x0cc\x1cd\u2028e\x85f\ng\r\nh\ri")
    assert text.line_count == 4
    assert [text.line(number) for number in range(4)] == ["a\x0bb\x0cc\x1cd\u2028e\x85f", "g", "h", "i"]
    assert [text.line_end(number) for number in range(4)] == ["\n", "\r\n", "\r", ""]
    assert [text.eol_near(number) for number in range(4)] == ["\n", "\r\n", "\r", "\r"]


def test_a_text_ends_behind_its_last_line_end() -> None:
    assert Text("").end == (0, 0)
    assert Text("a\n").end == (1, 0)
    assert Text("a\nbc").end == (1, 2)


def test_two_pieces_become_one_line_end() -> None:
    text = Text("a\r")
    text.replace(Position(1, 0), Position(1, 0), "\nb")
    assert text.line_count == 2
    assert str(text) == "a\r\nb"


def test_surrogate_halves_that_meet_are_one_character() -> None:
    text = Text("\ud83d")
    text.replace(Position(0, 1), Position(0, 1), "\ude00")
    assert text.end == (0, 1)
    assert str(text) == "😀"


def test_an_edit_carries_positions_behind_it() -> None:
    text = Text("one\ntwo\nthree")
    edit = text.replace(Position(0, 1), Position(1, 1), "X\nYY")
    assert str(text) == "oX\nYYwo\nthree"
    assert edit == Edit(Position(0, 1), Position(1, 1), Position(1, 2))
    assert edit.carry(Position(0, 1)) == (0, 1)
    assert edit.carry(Position(0, 2)) is None
    assert edit.carry(Position(1, 3)) == (1, 4)
    assert edit.carry(Position(2, 2)) == (2, 2)


@given(SOURCE, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), SOURCE), max_size=6))
def test_any_edits_leave_the_text_of_a_plain_string(source: str, edits: list[tuple[int, int, str]]) -> None:
    text = Text(source)
    for first, second, new in edits:
        places = positions(source)
        start, end = sorted((first % len(places), second % len(places)))
        edit = text.replace(places[start][0], places[end][0], new)
        behind = len(source) - places[end][1]
        source = source[: places[start][1]] + new + source[places[end][1] :]
        assert str(text) == source
        assert [text.line(number) for number in range(text.line_count)] == LINE_ENDS.split(source)
        assert text.length(Position(0, 0), edit.new_end) in (len(source) - behind, len(source) - behind - 1)


@given(SOURCE, st.data())
def test_slices_lengths_and_walks_agree_with_a_plain_string(source: str, data: st.DataObject) -> None:
    text, places = Text(source), positions(source)
    one, two = sorted(data.draw(st.tuples(*[st.integers(0, len(places) - 1)] * 2)))
    (start, start_offset), (end, end_offset) = places[one], places[two]
    assert text.slice(start, end) == source[start_offset:end_offset]
    assert text.length(start, end) == end_offset - start_offset
    budget = data.draw(st.integers(0, 50))
    assert text.back(end, budget) == min(place for place, offset in places if end_offset - offset <= budget)
    assert text.forward(start, budget) == max(place for place, offset in places if offset - start_offset <= budget)


def positions(source: str) -> list[tuple[Position, int]]:
    """All positions of a text with their offsets; there is none inside a line end."""
    found, offset = [], 0
    parts = LINE_ENDS.split(source)
    ends = [*LINE_ENDS.findall(source), ""]
    for number, (line, end) in enumerate(zip(parts, ends, strict=True)):
        found += [(Position(number, column), offset + column) for column in range(len(line) + 1)]
        offset += len(line) + len(end)
    return found
