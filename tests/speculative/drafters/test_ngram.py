"""Where n-gram drafts come from, and how sure they say to be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speculative import (
    NO_DRAFT,
    Corpus,
    FixedPolicy,
    Generation,
    NgramDrafter,
    PrefixConstraint,
    Suggestions,
    TokenBytes,
)
from speculative.drafters.ngram import LONGEST

TOKENS = st.integers(0, 2)  # few, so that everything repeats


def draft(context, k=4, drafter=None, constraint=None, vocab_size=1000):
    generation = Generation(
        context,
        max_new_tokens=50,
        stop_ids=frozenset(),
        vocab_size=vocab_size,
        policy=FixedPolicy(k),
        drafters=[drafter or NgramDrafter()],
        constraint=constraint,
    )
    return generation.propose(k)


def test_the_longest_match_wins_over_a_more_recent_one():
    assert draft([1, 2, 3, 9, 3, 5, 6, 1, 2, 3], k=2).tokens == (9, 3)


def test_the_most_recent_of_equal_matches_wins():
    assert draft([7, 1, 2, 8, 1, 3, 5, 1], k=2).tokens == (3, 5)


def test_beyond_four_tokens_the_longest_match_wins_too():
    # "1 2 3 4" occurs twice before its last; the older one matches one token more.
    context = [8, 1, 2, 3, 4, 50, 9, 1, 2, 3, 4, 60, 8, 1, 2, 3, 4]
    assert draft(context, k=1).tokens == (50,)


def test_each_token_is_looked_up_behind_the_one_before():
    # Behind 1 2 stands 3 (once); 2 3 last went on with 7, which is nearer than the 4 of the copied place.
    assert draft([1, 2, 3, 4, 2, 3, 7, 1, 2], k=2).tokens == (3, 4)  # three tokens match at the first place
    assert draft([5, 2, 3, 4, 2, 3, 7, 8, 2], k=2).tokens == (3, 7)  # two match at either: the more recent one


def test_a_loop_goes_on_past_the_end():
    assert draft([4, 1, 2, 1, 2], k=5).tokens == (1, 2, 1, 2, 1)
    assert draft([4, 4], k=3).tokens == (4, 4, 4)


def test_nothing_seen_before_is_nothing_to_say():
    assert draft([1, 2, 3]) == NO_DRAFT
    assert draft([1]) == NO_DRAFT


def test_min_match_is_respected():
    assert draft([1, 2, 5, 2], drafter=NgramDrafter(min_match=2)) == NO_DRAFT
    for wrong in (0, 5):
        with pytest.raises(ValueError, match="makes no sense"):
            NgramDrafter(min_match=wrong)


def test_other_sources_are_asked_at_each_length_after_the_text_itself():
    suffix, snippet = Corpus([1, 2, 50, 51]), Corpus([8, 1, 2, 60, 61])
    # Two tokens match in the suffix, one in the text.
    assert draft([2, 30, 1, 2], k=2, drafter=NgramDrafter([suffix, snippet])).tokens == (50, 51)
    # Three match in the snippet.
    assert draft([8, 1, 2], k=2, drafter=NgramDrafter([suffix, snippet])).tokens == (60, 61)
    # The same length: the text itself.
    assert draft([1, 2, 40, 1, 2], k=1, drafter=NgramDrafter([suffix])).tokens == (40,)


def test_what_was_suggested_lately_is_a_source():
    said = Suggestions()
    said.add([9, 1], [2, 50, 51])
    assert draft([7, 1], k=3, drafter=NgramDrafter([said])).tokens == (2, 50, 51)


def test_the_index_survives_between_requests():
    drafter = NgramDrafter()
    assert draft([1, 2, 3, 1], k=1, drafter=drafter).tokens == (2,)
    assert draft([1, 2, 4, 4, 2], k=1, drafter=drafter).tokens == (4,)
    assert draft([9, 1, 8, 1], k=1, drafter=drafter).tokens == (8,)


def chances(context, k=1):
    return [mark.chance for mark in draft(context, k).marks]


def test_a_longer_match_is_surer():
    # 5 is followed by 6 once; with the token before it alike the guess is surer.
    assert chances([1, 5, 6, 2, 5]) < chances([1, 5, 6, 1, 5]) < chances([0, 1, 5, 6, 7, 0, 1, 5])
    # A copied run grows surer with every token.
    run = chances([*range(30), 0], k=20)
    assert run == sorted(run)
    assert run[0] < run[-1]


def test_agreement_of_the_occurrences_makes_it_surer():
    once, differing = chances([5, 6, 1, 5]), chances([5, 7, 1, 5, 6, 2, 5])
    twice, thrice = chances([5, 6, 1, 5, 6, 2, 5]), chances([5, 6, 1, 5, 6, 2, 5, 6, 3, 5])
    assert differing < once < twice < thrice


def test_marks_differ_where_the_chances_do():
    drafts = [draft(list(context), 3) for context in ([1, 5, 6, 2, 5], [*range(9), 0], [5, 7, 1, 5, 6, 2, 5])]
    kinds = {(mark.kind, mark.chance) for found in drafts for mark in found.marks}
    assert len({kind for kind, _ in kinds}) == len(kinds) > 3


BYTES = TokenBytes([b"a", b"be", b"bet", b"c", b"t"])


def test_under_a_constraint_only_occurrences_that_fit_count():
    # Behind 0 stood last 3, before that 1 ("be"). The cursor stands behind "b".
    assert draft([0, 1, 4, 0, 3, 0], k=2, constraint=PrefixConstraint(BYTES, b"b"), vocab_size=5).tokens == (1, 4)


def test_a_name_that_is_being_typed_is_completed_from_the_text():
    # Nothing stood behind 4; the last token of the text that begins with "b" is 2.
    assert draft([1, 2, 3, 4], k=1, constraint=PrefixConstraint(BYTES, b"b"), vocab_size=5).tokens == (2,)
    # Spelled in two tokens: "be" and "t", or at once.
    assert draft([0, 1, 4, 3], k=2, constraint=PrefixConstraint(BYTES, b"bet"), vocab_size=5).tokens == (1, 4)


def test_forced_tokens_have_marks_of_their_own():
    forced = draft([0, 1, 4, 0, 1, 0], k=2, constraint=PrefixConstraint(BYTES, b"b"), vocab_size=5)
    free = draft([0, 1, 4, 0, 1, 0], k=2)
    assert forced.tokens == free.tokens
    assert forced.marks[0].kind != free.marks[0].kind
    assert forced.marks[1].kind == free.marks[1].kind


def longest_match(tokens, grown):
    """The guess behind `grown` by a scan of `tokens`: longest match first, then the most recent."""
    best = None
    for end in range(1, len(tokens)):
        match = 0
        while match < min(LONGEST, end) and tokens[end - 1 - match] == grown[-1 - match]:
            match += 1
        if match and (best is None or (match, end) >= best):
            best = (match, end)
    return None if best is None else tokens[best[1]]


@given(st.lists(TOKENS, min_size=1, max_size=30), st.integers(1, 9))
def test_drafts_are_the_continuation_of_the_longest_match(tokens, k):
    grown = list(tokens)
    for _ in range(k):
        token = longest_match(tokens, grown)
        if token is None:
            break
        grown.append(token)
    found = draft(tokens, k)
    assert list(found.tokens) == grown[len(tokens) :]
    assert len(found.marks) == len(found.tokens)
