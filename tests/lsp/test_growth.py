"""The rest of a suggestion: append-only, one end, never before the reply."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from completion_server.protocol import Usage
from lsp.growth import Growth


def growing(given: str) -> tuple[Growth, list[tuple[str, bool]]]:
    sent: list[tuple[str, bool]] = []
    return Growth(given, lambda text, done: sent.append((text, done))), sent


def test_nothing_is_sent_before_the_reply_and_then_all_of_it() -> None:
    growth, sent = growing("a")
    growth.more("ab")
    growth.more("abc")
    assert sent == []
    growth.begin()
    growth.begin()
    assert sent == [("bc", False)]
    growth.end("abcd")
    assert sent == [("bc", False), ("d", True)]


def test_one_end_whatever_is_said_after_it() -> None:
    growth, sent = growing("a")
    growth.begin()
    growth.end()
    growth.more("ab")
    growth.end("ab")
    assert sent == [("", True)]


def test_an_end_before_the_reply_comes_with_it() -> None:
    growth, sent = growing("a")
    growth.more("ab")
    growth.end()
    growth.begin()
    assert sent == [("b", True)]


def test_what_contradicts_what_the_client_has_is_not_sent() -> None:
    growth, sent = growing("ab")
    growth.begin()
    growth.more("ax")
    growth.more("a")
    growth.end("b")
    assert sent == [("", True)]


def test_a_growth_that_gave_way_says_nothing_more() -> None:
    growth, sent = growing("a")
    growth.begin()
    growth.give_way()
    growth.more("ab")
    growth.end("abc")
    growth.begin()
    assert sent == []


def test_its_end_is_told_once_with_what_it_cost() -> None:
    told: list[Any] = []
    growth, _ = growing("a")
    growth.when_over = told.append
    usage = Usage(completion_tokens=3)
    growth.end("ab", usage)
    assert told == []  # the reply comes first
    growth.begin()
    growth.end()
    assert told == [usage]


@given(st.lists(st.text("ab", max_size=4)), st.integers(0, 5), st.booleans())
def test_what_was_sent_is_always_the_head_of_what_was_said_last(wholes: list[str], begin: int, ends: bool) -> None:
    growth, sent = growing("a")
    for number, whole in enumerate(wholes):
        if number == begin:
            growth.begin()
        growth.more(whole)
    growth.begin()
    if ends:
        growth.end()
    assert "a" + "".join(text for text, _ in sent) == growth.given
    assert [done for _, done in sent if done] == [True] * ends
    assert growth.given in ["a", *wholes]
