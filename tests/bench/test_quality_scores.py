"""Every figure of a suggestion by hand, and each fault seen by the figure that is there for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.quality.cursors import Cursor
from bench.quality.scores import NOTHING, score, score_raw

CALL = Cursor(Path("a.py"), "python", "paren", "def f(a):\n    g(", "a, 1", ")\n    h(a)\n", in_brackets=True)
LINE = Cursor(Path("a.py"), "python", "above", "def f(a):\n    ", "b = a", "\n    return b\n")


def test_what_the_author_wrote_is_worth_everything() -> None:
    found = score(CALL, "a, 1")
    assert (found.shown, found.exact, found.prefix_chars, found.similarity) == (True, True, 4, 1.0)
    assert (found.syntax_ok, found.repeats) == (True, False)
    found = score_raw(CALL, "a, 1)\n    more(")
    assert (found.shown, found.exact, found.prefix_chars, found.similarity) == (True, True, 5, 1.0)
    assert (found.syntax_ok, found.repeats) == (True, False)


def test_what_takes_the_place_of_the_closer_is_measured_against_the_line_with_it() -> None:
    found = score(CALL, "a, 1)", replaced=1)
    assert (found.exact, found.prefix_chars, found.similarity, found.syntax_ok) == (True, 5, 1.0, True)
    found = score(CALL, "a, 1) + 2", replaced=1)
    assert (found.exact, found.prefix_chars, found.syntax_ok, found.repeats) == (False, 5, True, False)


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_nothing_shown_is_worth_nothing(text: str) -> None:
    assert score(CALL, text) == NOTHING
    assert (NOTHING.exact, NOTHING.prefix_chars, NOTHING.similarity) == (False, 0, 0.0)
    assert (NOTHING.syntax_ok, NOTHING.repeats) == (None, None)


def test_a_raw_continuation_whose_first_line_is_empty_shows_nothing() -> None:
    assert score_raw(CALL, "\n    h(a)") == NOTHING


def test_one_character_off() -> None:
    found = score(CALL, "a, 2")
    assert (found.exact, found.prefix_chars) == (False, 3)
    assert found.similarity == pytest.approx(1 - 1 / 4)
    found = score_raw(CALL, "b, 1)")
    assert (found.exact, found.prefix_chars) == (False, 0)
    assert found.similarity == pytest.approx(1 - 1 / 5)


def test_white_space_at_the_end_of_a_line_does_not_count() -> None:
    assert score(LINE, "b = a  ").exact
    assert not score(LINE, "b =  a").exact


def test_the_first_line_decides_and_the_rest_may_parse_or_not() -> None:
    found = score(LINE, "b = a\n    c = (")
    assert (found.exact, found.similarity, found.prefix_chars, found.syntax_ok) == (True, 1.0, 5, False)


def test_a_raw_continuation_may_go_on_behind_brackets_that_it_has_filled_and_closed() -> None:
    assert score_raw(CALL, "a, 1) or 2").exact
    assert not score_raw(CALL, "a, 1").exact
    assert not score_raw(replace(CALL, in_brackets=False), "a, 1) or 2").exact


def test_a_line_that_goes_on_where_the_author_s_ends_is_not_exact() -> None:
    assert not score(CALL, "a, 1\n").exact  # the closer would stand on the next line
    assert not score(replace(CALL, wrote="a,\n 1"), "a,").exact
    assert score(replace(CALL, wrote="a,\n 1"), "a,\n 2").exact


def test_a_closer_written_twice_is_seen_by_three_figures() -> None:
    found = score(CALL, "a, 1)")
    assert (found.exact, found.syntax_ok, found.repeats) == (False, False, True)


def test_a_closer_of_its_own_is_no_repetition() -> None:
    found = score(replace(CALL, wrote="h(a)"), "h(a)")
    assert (found.exact, found.repeats) == (True, False)


@pytest.mark.parametrize("text", ["return b", "b = a\n    return b", "b = a\n    return b\n"])
def test_a_line_that_stands_below_is_a_repetition(text: str) -> None:
    assert score(LINE, text).repeats is True


def test_several_lines_that_stand_below_are_too_whatever_blank_lines_are_between() -> None:
    below = "\n\n    x = 1\n    y = 2\n"
    assert score(replace(LINE, after=below), "b = a\n\n    x = 1\n\n    y = 2").repeats is True
    assert score(replace(LINE, after=below), "b = a\n    y = 2").repeats is False


@pytest.mark.parametrize("text", ["b = a\n    }", "return"])
def test_closers_alone_and_other_lines_are_none(text: str) -> None:
    assert score(replace(LINE, after="\n    }\n    return b\n"), text).repeats is False


def test_what_the_author_repeats_himself_is_none() -> None:
    again = replace(LINE, wrote="go()", after="\n    go()\n")
    found = score(again, "go()")
    assert (found.exact, found.repeats) == (True, False)


def test_a_raw_continuation_is_not_blamed_for_the_editor_s_closers() -> None:
    assert score_raw(CALL, "a, 1)").repeats is False
    assert score_raw(LINE, "return b").repeats is True
