"""What stays of a suggestion while its document is edited."""

from hypothesis import given
from hypothesis import strategies as st

from lsp.suggestion import Shelf, Suggestion
from lsp.text import Position, Text


def kept(source: str, anchor: Position, says: str) -> tuple[Text, Suggestion]:
    return Text(source), Suggestion(anchor, says)


def edit(text: Text, suggestion: Suggestion, start: Position, end: Position, new: str) -> None:
    suggestion.on_edit(text.replace(start, end, new))


def test_what_was_typed_is_taken_off() -> None:
    text, suggestion = kept("x = ", Position(0, 4), "abc\n  d")
    edit(text, suggestion, Position(0, 4), Position(0, 4), "abc\r\n")
    assert suggestion.rest(text, Position(1, 0)) == "  d"
    assert suggestion.rest(text, Position(0, 4)) is None  # what is behind the cursor is no closer
    edit(text, suggestion, Position(0, 6), Position(1, 0), "")
    assert suggestion.rest(text, Position(0, 6)) == "c\n  d"


def test_other_text_has_no_rest_until_it_is_taken_back() -> None:
    text, suggestion = kept("", Position(0, 0), "abc")
    edit(text, suggestion, Position(0, 0), Position(0, 0), "ax")
    assert suggestion.rest(text, Position(0, 2)) is None
    edit(text, suggestion, Position(0, 1), Position(0, 2), "")
    assert suggestion.rest(text, Position(0, 1)) == "bc"


def test_an_edit_outside_ends_it() -> None:
    for start, end in [((0, 0), (0, 0)), ((0, 3), (0, 4)), ((0, 5), (0, 6)), ((1, 0), (1, 0))]:
        text, suggestion = kept("x = )y\nz", Position(0, 4), "abc")
        edit(text, suggestion, Position(*start), Position(*end), "q")
        assert not suggestion.alive
        assert suggestion.rest(text, Position(0, 4)) is None


def test_the_shelf_keeps_the_newest() -> None:
    text, shelf = Text(""), Shelf(size=2)
    for says in ("one", "two", "three"):
        shelf.put(Suggestion(Position(0, 0), says))
    assert [kept.text for kept in shelf.holding(text, Position(0, 0))] == ["three", "two"]
    shelf.on_edit(text.replace(Position(0, 0), Position(0, 0), "tw"))
    [kept] = shelf.holding(text, Position(0, 2))
    assert kept.rest(text, Position(0, 2)) == "o"


@given(st.text("ab", max_size=8), st.lists(st.one_of(st.none(), st.sampled_from("ab")), max_size=20))
def test_any_keys_give_the_rest_exactly_where_the_typed_text_is_its_head(says: str, keys: list[str | None]) -> None:
    text, suggestion = kept("x = ", Position(0, 4), says)
    typed = ""
    for key in keys:  # None is backspace
        end = Position(0, 4 + len(typed))
        if key is None and typed:
            edit(text, suggestion, Position(0, end.column - 1), end, "")
            typed = typed[:-1]
        elif key is not None:
            edit(text, suggestion, end, end, key)
            typed += key
        expected = says[len(typed) :] if says.startswith(typed) else None
        assert suggestion.rest(text, Position(0, 4 + len(typed))) == expected
