import pytest

from speculative import NO_DRAFT, FixedPolicy, Generation, TailDrafter
from speculative.drafters.tail import MAX_MATCH, REACH, align

PROMPT = list(range(100, 120))
SUGGESTION = [1, 2, 3, 4, 5, 6]


def draft(previous, context, k=4):
    generation = Generation(
        context,
        max_new_tokens=50,
        stop_ids=frozenset(),
        vocab_size=1000,
        policy=FixedPolicy(k),
        drafters=[TailDrafter(previous)],
    )
    return generation.propose(k)


@pytest.mark.parametrize("typed", range(7))
def test_typing_what_was_suggested_offers_the_rest(typed):
    found = draft(PROMPT + SUGGESTION, PROMPT + SUGGESTION[:typed])
    assert found.tokens == tuple(SUGGESTION[typed : typed + 4])


def test_nothing_is_offered_at_the_end_or_without_a_previous_one():
    assert draft(PROMPT + SUGGESTION, PROMPT + SUGGESTION) == NO_DRAFT
    assert draft([], PROMPT) == NO_DRAFT


def test_taking_text_back_offers_what_was_there():
    assert draft(PROMPT + SUGGESTION, PROMPT[:18]).tokens == (118, 119, 1, 2)


@pytest.mark.parametrize(
    ("context", "place", "match"),
    [
        ([*PROMPT, 1, 77, 3, 4], 24, 2),  # one token became another: 3 4 are where they were
        ([*PROMPT, 1, 77, 78, 3, 4], 24, 2),  # one became two: everything moved by one
        ([*PROMPT, 77, 3], 23, 1),  # two became one
        ([*PROMPT, 1, 77], 0, 0),  # 77 is nowhere: nothing to say yet
        ([*PROMPT[:-1], 77, 1, 2], 22, 2),  # the last token of the prompt was encoded anew
    ],
)
def test_after_an_odd_token_it_finds_the_place_again(context, place, match):
    assert align(context, PROMPT + SUGGESTION) == (place, match)


def test_the_longest_match_wins_and_then_the_nearest():
    previous = [9, 5, 6, 0, 0, 6, 0, 0, 5, 6, 0]
    # Behind the place where they part (index 0): "5 6" ends at 3 and 10, "6" alone at 6. Place 3 is nearest to 3.
    assert align([8, 5, 6], previous) == (3, 2)
    assert align([8, 7, 7, 7, 7, 7, 7, 5, 6], previous) == (10, 2)
    assert align([8, 7, 7, 7, 7, 0, 6], previous) == (6, 2)


def test_a_place_far_away_is_not_looked_for():
    previous = [1] + [2] * (REACH + 5) + [3, 4]
    assert align([0, 3], previous) == (0, 0)
    assert align([0] * 7 + [3], previous) == (len(previous) - 1, 1)


def test_the_match_is_capped_for_the_statistics():
    assert align(PROMPT, PROMPT + SUGGESTION) == (20, MAX_MATCH)
    assert align([7], [7, 8]) == (1, 1)


def test_it_remembers_a_copy():
    tokens = PROMPT + SUGGESTION
    drafter = TailDrafter()
    drafter.remember(tokens)
    tokens.clear()
    generation = Generation(
        PROMPT, max_new_tokens=9, stop_ids=frozenset(), vocab_size=1000, policy=FixedPolicy(2), drafters=[drafter]
    )
    assert generation.propose(2).tokens == (1, 2)
