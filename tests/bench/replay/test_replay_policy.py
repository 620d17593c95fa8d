"""What is accepted of a suggestion: by hand, and never anything that the author did not write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.replay.policy import Policy

POLICY = Policy(after_ms=400, least=3, least_word=4)


@pytest.mark.parametrize(
    ("suggestion", "ahead", "taken"),
    [
        ("return x", "return x\n    y", "return x"),  # to the end of the line
        ("return x\n    y = 1\n", "return x\n    y = 2\n", "return x"),  # the second line is another one
        ("return x\n    y = 1\n", "return x\n    y = 1\nz", "return x\n    y = 1"),
        ("\n    return x", "\n    return x\n", "\n    return x"),
        ("return x", "return x + 1\n", "return"),  # the author's line goes on: one word
        ("return y", "return x\n", "return"),
        ("returned", "return x\n", ""),  # another word
        ("return_y", "return x\n", ""),
        ("(self, x)", "(self, y)\n", "(self"),
        ("ret", "return x\n", ""),  # a head of a word is no word
        ("x", "x\n", ""),  # a key types as much
        ("pass", "", ""),  # behind the end of what is typed
    ],
)
def test_what_is_taken(suggestion, ahead, taken):
    assert POLICY.taken(suggestion, ahead, seen_ms=400) == taken


def test_what_was_hardly_seen_is_typed_over():
    assert POLICY.taken("return x", "return x\n", seen_ms=399.9) == ""


@given(suggestion=st.text(alphabet="ab( \n", max_size=12), ahead=st.text(alphabet="ab( \n", max_size=12))
def test_only_what_the_author_wrote_and_what_was_suggested(suggestion, ahead):
    taken = POLICY.taken(suggestion, ahead, seen_ms=1_000)
    assert suggestion.startswith(taken)
    assert ahead.startswith(taken)
    assert not taken or len(taken) >= POLICY.least
