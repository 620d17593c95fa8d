"""Occurrences are found as a scan finds them, whatever was appended and removed before."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from speculative import Corpus, NgramIndex, Suggestions
from speculative.drafters.index import CANDIDATES, MAX_MATCH
from speculative.prefix import common_prefix

TOKENS = st.integers(0, 2)  # few, so that everything repeats


def scan(tokens, key):
    """The positions behind the occurrences of `key` that have something behind them, in order."""
    ends = range(len(key), len(tokens))
    return [end for end in ends if tuple(tokens[end - len(key) : end]) == key]


class IndexAgainstScan(RuleBasedStateMachine):
    """Appends, truncations and syncs in any order leave an index that finds what a scan finds."""

    def __init__(self):
        super().__init__()
        self.index = NgramIndex()
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
        assert self.index.tokens == self.tokens
        for size in range(1, min(MAX_MATCH, len(self.tokens)) + 1):
            key = tuple(self.tokens[-size:])
            assert list(self.index.found(key)) == scan(self.tokens, key)[::-1][:CANDIDATES]


TestIndexAgainstScan = IndexAgainstScan.TestCase


def test_what_is_truncated_takes_no_memory():
    index = NgramIndex()
    index.sync([1, 2, 1, 2, 3])
    index.truncate(0)
    assert index._ends == {}


@given(st.lists(TOKENS, max_size=40))
def test_a_corpus_finds_the_first_occurrences(tokens):
    corpus = Corpus(tokens)
    for size in range(1, min(MAX_MATCH, len(tokens)) + 1):
        for start in range(len(tokens) - size + 1):
            key = tuple(tokens[start : start + size])
            assert list(corpus.found(key)) == scan(tokens, key)[:CANDIDATES]
    assert corpus.found((7,)) == ()


def test_suggestions_are_found_with_the_context_that_led_to_them_and_the_latest_first():
    said = Suggestions()
    said.add([1, 2], [3, 4])
    said.add([9, 2], [5])
    assert [said.tokens[end] for end in said.found((2,))] == [5, 3]
    assert [said.tokens[end] for end in said.found((1, 2, 3))] == [4]


def test_nothing_follows_the_end_of_a_suggestion():
    said = Suggestions()
    said.add([1], [2])
    said.add([3], [4])
    assert said.found((2,)) == []
    assert said.found((4,)) == []


@given(st.lists(st.lists(TOKENS, min_size=20, max_size=40) | st.lists(TOKENS, max_size=9), max_size=20))
def test_the_latest_suggestions_stay_within_the_limit(added):
    said = Suggestions(limit=64)
    for continuation in added:
        said.add([5, 6, 7], continuation)
        assert len(said.tokens) <= 64
        if continuation:
            assert said.tokens[said.found((5, 6, 7))[0]] == continuation[0]


def test_old_suggestions_are_forgotten():
    said = Suggestions(limit=16)
    said.add([1], [2, 3])
    for _ in range(4):
        said.add([1], [4, 5])
    assert 3 not in said.tokens


@given(st.lists(TOKENS, max_size=20), st.lists(TOKENS, max_size=20))
def test_common_prefix_equals_a_scan(a, b):
    scan = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    assert common_prefix(a, b) == scan
    assert common_prefix(tuple(a), b) == scan
