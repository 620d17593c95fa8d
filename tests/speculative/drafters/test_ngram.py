import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from speculative import NO_DRAFT, Corpus, FixedPolicy, Generation, NgramDrafter, NgramIndex
from speculative.prefix import common_prefix

MAX = 3
TOKENS = st.integers(0, 2)  # few, so that everything repeats


def earlier_by_scan(tokens, match):
    """The position behind the most recent earlier occurrence of the last `match` tokens."""
    key = tokens[len(tokens) - match :]
    for end in range(len(tokens) - 1, match - 1, -1):
        if tokens[end - match : end] == key:
            return end
    return None


class IndexAgainstScan(RuleBasedStateMachine):
    """Appends, truncations and syncs in any order leave an index that finds what a scan finds."""

    def __init__(self):
        super().__init__()
        self.index = NgramIndex(MAX)
        self.tokens = []

    @rule(token=TOKENS)
    def append(self, token):
        self.index.append(token)
        self.tokens.append(token)

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def truncate(self, data):
        length = data.draw(st.integers(0, len(self.tokens)))
        self.index.truncate(length)
        del self.tokens[length:]

    @rule(kept=st.floats(0, 1), more=st.lists(TOKENS, max_size=8))
    def sync(self, kept, more):
        self.tokens = self.tokens[: int(kept * len(self.tokens))] + more
        self.index.sync(self.tokens)

    @invariant()
    def finds_what_a_scan_finds(self):
        assert len(self.index) == len(self.tokens)
        for match in range(1, min(MAX, len(self.tokens)) + 1):
            assert self.index.earlier(match) == earlier_by_scan(self.tokens, match)


TestIndexAgainstScan = IndexAgainstScan.TestCase


def test_what_is_truncated_takes_no_memory():
    index = NgramIndex(MAX)
    index.sync([1, 2, 1, 2, 3])
    index.truncate(0)
    assert index._ends == {}


def draft(context, k=4, drafter=None):
    generation = Generation(
        context,
        max_new_tokens=50,
        stop_ids=frozenset(),
        vocab_size=1000,
        policy=FixedPolicy(k),
        drafters=[drafter or NgramDrafter()],
    )
    return generation.propose(k)


def test_the_longest_match_wins_over_a_more_recent_one():
    found = draft([1, 2, 3, 9, 3, 5, 6, 1, 2, 3], k=2)
    assert (found.tokens, found.match) == ((9, 3), 3)


def test_the_most_recent_of_equal_matches_wins():
    found = draft([7, 1, 2, 8, 1, 3, 5, 1], k=2)
    assert (found.tokens, found.match) == ((3, 5), 1)


def test_a_loop_goes_on_past_the_end():
    assert draft([4, 1, 2, 1, 2], k=5).tokens == (1, 2, 1, 2, 1)
    assert draft([4, 4], k=3).tokens == (4, 4, 4)


def test_nothing_seen_before_is_nothing_to_say():
    assert draft([1, 2, 3]) == NO_DRAFT
    assert draft([1]) == NO_DRAFT


def test_min_match_is_respected():
    assert draft([1, 2, 5, 2], drafter=NgramDrafter(min_match=2)) == NO_DRAFT
    for wrong in ({"min_match": 0}, {"min_match": 5, "max_match": 4}):
        with pytest.raises(ValueError, match="makes no sense"):
            NgramDrafter(**wrong)


def test_corpora_are_asked_at_each_length_after_the_text_itself():
    suffix, snippet = Corpus([1, 2, 50, 51]), Corpus([8, 1, 2, 60, 61])
    # Two tokens match in the suffix, one in the text.
    found = draft([2, 30, 1, 2], k=2, drafter=NgramDrafter([suffix, snippet]))
    assert (found.tokens, found.match) == ((50, 51), 2)
    # Three match in the snippet.
    assert draft([8, 1, 2], k=2, drafter=NgramDrafter([suffix, snippet])).tokens == (60, 61)
    # The same length: the text itself.
    assert draft([1, 2, 40, 1, 2], k=1, drafter=NgramDrafter([suffix])).tokens == (40,)


def test_the_first_occurrence_in_a_corpus_counts_and_its_end_is_the_end():
    corpus = Corpus([1, 5, 1, 6, 7])
    assert corpus.following((1,), 3) == (5, 1, 6)
    assert corpus.following((6,), 3) == (7,)
    assert corpus.following((7,), 3) == ()
    assert Corpus([]).following((1,), 3) == ()


def test_the_index_survives_between_requests():
    drafter = NgramDrafter()
    assert draft([1, 2, 3, 1], k=1, drafter=drafter).tokens == (2,)
    assert draft([1, 2, 4, 4, 2], k=1, drafter=drafter).tokens == (4,)
    assert draft([9, 1, 8, 1], k=1, drafter=drafter).tokens == (8,)


@given(st.lists(TOKENS, min_size=1, max_size=30), st.integers(1, 9))
def test_drafts_are_the_continuation_of_the_longest_match(tokens, k):
    expected, match = (), 0
    for match in range(min(4, len(tokens)), 0, -1):
        end = earlier_by_scan(tokens, match)
        if end is not None:
            grown = list(tokens)
            for i in range(k):
                grown.append(grown[end + i])
            expected = tuple(grown[len(tokens) :])
            break
    found = draft(tokens, k)
    assert found.tokens == expected
    assert not expected or found.match == match


@given(st.lists(TOKENS, max_size=20), st.lists(TOKENS, max_size=20))
def test_common_prefix_equals_a_scan(a, b):
    scan = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    assert common_prefix(a, b) == scan
    assert common_prefix(tuple(a), b) == scan
