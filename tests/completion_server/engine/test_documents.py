"""Free drafts of a document: what is left of a suggestion follows what is typed of it, token for token."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from completion_server.engine.documents import LIMIT, Documents, DocumentState
from completion_server.engine.pair import LoadedPair
from completion_server.models.tiny import tiny_tokenizer
from completion_server.prompts import Layout, Prompt, PromptBudget, detect
from completion_server.protocol import Context
from completion_server.tokenization import TextTokenizer
from speculative import FixedPolicy, Generation, PrefixConstraint, Suggestions, TokenBytes

BEFORE = "def add(left, right):\n    return left + right\n\n\ndef twice(value):\n    "
SUGGESTION = "total = add(value, value)\n    return total  # naïve ✓\n"


MakePair = Callable[[bool, bool], LoadedPair]


@pytest.fixture(scope="session")
def make_pair(load_tiny: Any) -> MakePair:
    """`make_pair(fim, healing)`: what documents need; the tokenizer has tokens of several lengths."""

    @functools.cache
    def make(fim: bool, healing: bool) -> LoadedPair:
        text = TextTokenizer(tiny_tokenizer(fim=fim, merges=160, text=BEFORE + SUGGESTION))
        family, _ = detect(text)
        loaded: LoadedPair = load_tiny()
        return replace(
            loaded,
            text=text,
            token_bytes=TokenBytes(text.vocabulary),
            vocab_size=text.real_size,
            layout=Layout(family, text),
            budget=PromptBudget(),
            healing=healing,
        )

    return make


def ask(state: DocumentState, before: str) -> Prompt:
    return state.build(Context("a.py", 1, before, "\n", language="python"))


def answer(state: DocumentState, pair: LoadedPair, prompt: Prompt, rest: str) -> None:
    """The target continued `prompt` with `rest`, in its usual tokens."""
    state.remember([*prompt.tokens, *expected(pair, prompt, rest)])


def expected(pair: LoadedPair, prompt: Prompt, rest: str) -> list[int]:
    return pair.text.encode(prompt.forced.decode() + rest, continued=True)


def draft(state: DocumentState, pair: LoadedPair, prompt: Prompt, k: int = 64) -> tuple[int, ...]:
    """What is drafted for the first pass by the tail alone."""
    (tail,) = (drafter for drafter in state.drafters(prompt) if drafter.name == "tail")
    generation = Generation(
        prompt.tokens,
        max_new_tokens=k + 1,
        stop_ids=pair.layout.stop_ids,
        vocab_size=pair.vocab_size,
        policy=FixedPolicy(k),
        drafters=[tail],
        constraint=PrefixConstraint(pair.token_bytes, prompt.forced) if prompt.forced else None,
    )
    return generation.propose(k).tokens


@pytest.mark.parametrize("healing", [True, False], ids=["healed", "as typed"])
@pytest.mark.parametrize("fim", [True, False], ids=["fill-in", "prefix only"])
def test_whatever_is_typed_of_a_suggestion_the_draft_is_the_rest_of_it(
    make_pair: MakePair, fim: bool, healing: bool
) -> None:
    pair = make_pair(fim, healing)
    for typed in range(len(SUGGESTION)):
        state = DocumentState(pair, Suggestions())
        answer(state, pair, ask(state, BEFORE), SUGGESTION)
        prompt = ask(state, BEFORE + SUGGESTION[:typed])
        assert draft(state, pair, prompt) == tuple(expected(pair, prompt, SUGGESTION[typed:])), typed


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 6), max_size=12),
    st.integers(0, len(SUGGESTION)),
    st.booleans(),
    st.booleans(),
)
def test_key_after_key_the_draft_is_right_as_far_as_the_text_agrees(
    make_pair: MakePair, keys: list[int], wrong_from: int, fim: bool, healing: bool
) -> None:
    """Each key the target says the same text again; from `wrong_from` on it was something else before."""
    pair = make_pair(fim, healing)
    state = DocumentState(pair, Suggestions())
    before, text = BEFORE, SUGGESTION[:wrong_from] + "x" + SUGGESTION[wrong_from:]
    answer(state, pair, ask(state, before), text)
    typed = 0
    for step in keys:
        typed = min(typed + step, len(SUGGESTION) - 1)
        prompt = ask(state, before + SUGGESTION[:typed])
        if typed > wrong_from:
            return  # the text has left what was suggested
        drafted = pair.text.decode(draft(state, pair, prompt))
        assert drafted == prompt.forced.decode() + text[typed:]
        answer(state, pair, prompt, text[typed:])


def test_tokens_of_the_targets_own_choice_are_kept_where_they_line_up(make_pair: MakePair) -> None:
    pair = make_pair(False, True)
    state = DocumentState(pair, Suggestions())
    prompt = ask(state, BEFORE)
    odd = pair.text.encode(prompt.forced.decode(), continued=True)
    odd += [token for letter in SUGGESTION for token in pair.text.encode(letter, continued=True)]  # letter by letter
    state.remember([*prompt.tokens, *odd])
    assert draft(state, pair, ask(state, BEFORE)) == tuple(odd)[:64]


def test_taking_a_letter_back_offers_it_again(make_pair: MakePair) -> None:
    pair = make_pair(False, True)
    state = DocumentState(pair, Suggestions())
    answer(state, pair, ask(state, BEFORE + "tot"), SUGGESTION[3:])
    prompt = ask(state, BEFORE + "to")
    assert pair.text.decode(draft(state, pair, prompt)) == prompt.forced.decode() + SUGGESTION[2:]


def test_what_was_suggested_is_remembered_for_all_documents_of_a_client_and_for_no_other(make_pair: MakePair) -> None:
    pair = make_pair(False, True)
    documents = Documents(pair)

    def drafted(client: int, document: str) -> str:
        state = documents.get(client, document)
        prompt = ask(state, "x = 1\ndef twice(value):\n    total = ")
        (ngram,) = (drafter for drafter in state.drafters(prompt) if drafter.name == "n-gram")
        generation = Generation(
            prompt.tokens,
            max_new_tokens=9,
            stop_ids=frozenset(),
            vocab_size=pair.vocab_size,
            policy=FixedPolicy(8),
            drafters=[ngram],
        )
        return pair.text.decode(generation.propose(8).tokens)

    state = documents.get(1, "a.py")
    answer(state, pair, ask(state, "def twice(value):\n    "), "total = add(value, value)\n")
    assert "add(value" not in drafted(1, "b.py")  # the request may still go on
    ask(state, "def twice(value):\n    q")
    assert "add(value" in drafted(1, "c.py")
    assert "add(value" not in drafted(2, "c.py")
    documents.close_client(1)
    assert "add(value" not in drafted(1, "c.py")


def test_the_document_used_longest_ago_is_forgotten(make_pair: MakePair) -> None:
    documents = Documents(make_pair(False, True))
    first = documents.get(1, "0")
    for number in range(1, LIMIT):
        documents.get(1, str(number))
    assert documents.get(1, "0") is first
    documents.get(1, "one more")
    assert documents.get(1, "0") is first
    second = documents.get(1, "2")
    documents.close(1, "2")
    assert documents.get(1, "2") is not second
