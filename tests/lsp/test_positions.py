"""Columns in three encodings, against Python's own encoders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp.positions import Encoding, column_of, units_of

ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]
LINE = 'x = "😀é漢"; foo('


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 21), ("utf-16", 16), ("utf-32", 15)])
def test_the_end_of_a_line_with_wide_characters(encoding: Encoding, units: int) -> None:
    assert units_of(LINE, len(LINE), encoding) == units
    assert column_of(LINE, units, encoding) == len(LINE) == 15


@pytest.mark.parametrize(
    ("encoding", "units", "column"),
    [
        ("utf-16", 1, 0),  # between the halves of a surrogate pair
        ("utf-8", 1, 0),
        ("utf-8", 3, 0),
        ("utf-8", 5, 1),  # inside é
        ("utf-16", -1, 0),
        ("utf-16", 99, 3),
        ("utf-8", 99, 3),
        ("utf-32", 99, 3),
    ],
)
def test_positions_that_no_character_begins_at(encoding: Encoding, units: int, column: int) -> None:
    assert column_of("😀éx", units, encoding) == column


@given(
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), st.data(), st.sampled_from(ENCODINGS)
)
def test_there_and_back(line: str, data: st.DataObject, encoding: Encoding) -> None:
    column = data.draw(st.integers(0, len(line)))
    units = units_of(line, column, encoding)
    assert (
        units
        == len(line[:column].encode(encoding.replace("16", "16-le").replace("32", "32-le")))
        // ({"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding])
    )
    assert column_of(line, units, encoding) == column


@given(
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])),
    st.integers(-2, 60),
    st.sampled_from(ENCODINGS),
)
def test_any_number_of_units_is_clamped_down(line: str, units: int, encoding: Encoding) -> None:
    column = column_of(line, units, encoding)
    assert units_of(line, column, encoding) <= max(units, 0)
    if column < len(line):
        assert units_of(line, column + 1, encoding) > units
