"""What of a growing suggestion may be shown: whatever comes behind it, the whole one begins with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp.stream import settled
from lsp.trim import Surroundings, trim


def at(before: str = "", after: str = "") -> Surroundings:
    return Surroundings.of(before, after)


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ("", ""),
        ("foo(a", ""),
        ("foo(a)\n", "foo(a)"),
        ("foo(a)\n    b = ", "foo(a)"),
        ("foo(a)\n    b = 1\n", "foo(a)\n    b = 1"),
    ],
)
def test_whole_lines_stand(said: str, stands: str) -> None:
    assert settled(said, at("x = ")) == stands


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ("foo", ""),  # may be `food`
        ("foo(", "foo"),
        ("foo(bar, ", "foo(bar"),
        ("foo(bar)\nx", "foo(bar)"),  # whole lines do
    ],
)
def test_words_of_a_first_line_stand_where_it_takes_long(said: str, stands: str) -> None:
    assert settled(said, at("x = "), words=True) == stands


def test_a_line_that_may_turn_out_to_stand_below_is_held_back() -> None:
    below = "\none\ntwo\nthree\n"
    assert settled("zero\none\ntwo\n", at("", below)) == "zero"
    assert settled("zero\none\ntwo\nfour\n", at("", below)) == "zero\none\ntwo\nfour"
    assert settled("one", at("", below), words=True) == ""
    assert settled("one or ", at("", below), words=True) == "one or"


def test_a_line_that_was_said_before_is_held_back() -> None:
    assert settled("a = 1\nb = 2\na = 1\nb = 2\n", at()) == "a = 1\nb = 2"
    assert settled("f(\n)\n)\n", at()) == "f(\n)\n)"  # closers are no loop


def test_text_behind_the_cursor_holds_everything_back() -> None:
    assert settled("a, b)\nx\n", at("f(", ")")) == ""


LINE = st.sampled_from(["a", "b", "c = [", "]", "    a", "", "d(a)", "}", "\"'"])


@given(
    st.lists(LINE, min_size=1, max_size=7), st.lists(LINE, max_size=6), st.sampled_from(["", "    ", "x = "]), st.data()
)
def test_the_whole_suggestion_begins_with_what_stood(
    lines: list[str], below: list[str], before: str, data: st.DataObject
) -> None:
    said = "\n".join(lines)
    around = at(before, "\n" + "\n".join(below))
    head = said[: data.draw(st.integers(0, len(said)))]
    stood = trim(settled(head, around, words=data.draw(st.booleans())), around).text
    whole = trim(said, around).text
    assert whole.startswith(stood)
