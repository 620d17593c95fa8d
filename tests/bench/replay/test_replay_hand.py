"""What is done next, by hand: keys that an accept spares are dropped, and what follows comes earlier."""

import random
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.replay.actions import Accept, Delete, Insert, Move, Open
from bench.replay.hand import Hand
from bench.replay.policy import Policy
from bench.typist import keys_of

PLAN = [
    Open(0.0, "a.py", "", 0, 0),
    Insert(1.0, "x"),
    Insert(1.25, "t", slip=True),
    Delete(1.5, slip=True),
    Insert(1.75, "y"),
    Insert(2.0, "z"),
    Insert(2.5, "\n  "),
    Insert(3.0, "w"),
    Move(4.0, 0, 0),
    Insert(5.0, "v"),
]
POLICY = Policy(after_ms=100, least=2, least_word=2)


def done(hand, *suggestions):
    """The actions, with what stands on the screen before each."""
    return [hand.act(text, 500) for text in suggestions]


def test_without_suggestions_the_plan_is_done():
    hand = Hand(PLAN, POLICY)
    found = done(hand, *[""] * len(PLAN))
    assert found == hand.done == PLAN
    assert hand.due is None
    with pytest.raises(IndexError):
        hand.act()


def test_an_accept_spares_keys_and_their_slips():
    hand = Hand(PLAN, POLICY)
    found = done(hand, "", "xyz", "", "", "")
    assert found[1:] == [Accept(1.0, "xyz"), Insert(1.5, "\n  "), Insert(2.0, "w"), Move(3.0, 0, 0)]
    assert hand.due == 4.0


@given(seed=st.integers(), looks=st.lists(st.booleans(), max_size=60))
def test_accepted_or_typed_the_text_is_the_same(seed, looks):
    """Whoever is shown, now and then, what they are about to write ends up with the same text, and never later."""
    plan = [
        Insert(0.2 * number, key) for number, key in enumerate(keys_of("def f(self):\n    return self.g\n\nx = 1\n"))
    ]
    hand, text = Hand(plan, POLICY), ""
    whole = "".join(action.text for action in plan)
    wrong = random.Random(seed)
    for planned, look in zip_longest(plan, looks[: len(plan)]):
        if hand.due is None:
            break
        assert hand.due <= planned.at + 1e-9
        shown = whole[len(text) : len(text) + wrong.randint(1, 12)] + wrong.choice(["", "?"]) if look else ""
        text += hand.act(shown, 500).text
    assert text == whole


def test_nothing_is_accepted_while_a_slip_stands_there():
    hand = Hand(PLAN, POLICY)
    found = done(hand, "", "", "", "yz", "yz")
    assert found[3] == PLAN[3]  # the slip is taken back first
    assert found[4] == Accept(1.75, "yz")


def test_nothing_is_accepted_where_somebody_types_on_behind_a_slip():
    plan = [Insert(0.0, "t", slip=True), Insert(0.25, "z", slip=True), Delete(0.5, 2, slip=True), Insert(1.0, "yz")]
    assert done(Hand(plan, POLICY), "", "yz", "yz", "yz") == [*plan[:3], Accept(1.0, "yz")]


def test_what_comes_behind_a_jump_is_not_ahead():
    hand = Hand(PLAN, POLICY)
    done(hand, *[""] * 6)
    assert hand.act("\n  wv", 500) == PLAN[6]


def test_a_trace_is_done_as_it_stands():
    plan = [*PLAN[:2], Accept(1.4, "yz")]
    assert done(Hand(plan), "xyz", "xyz", "yz") == plan
