"""Greedy decoding with any drafter and any k gives the target's tokens, token for token.

2,000 prompts a case on a table model in float64 whose logits tie often; texts end by stop token or by length.
"""

import random
from collections import Counter
from typing import NamedTuple

import pytest

from speculative import (
    AdaptivePolicy,
    Corpus,
    FixedPolicy,
    Generation,
    ModelDrafter,
    NgramDrafter,
    PassCosts,
    PrefixConstraint,
    TailDrafter,
    TokenBytes,
    generate,
)
from speculative.drafters import fakes
from speculative.fakes import TableModel

VOCAB = 12
STOP = frozenset({5, 9, 10})
NEW_TOKENS = 10
PROMPTS = 2_000

TARGET = {"vocab_size": VOCAB, "seed": 1, "levels": 5}


def prompts():
    source = random.Random(7)
    return [[source.randrange(VOCAB) for _ in range(source.randint(1, 6))] for _ in range(PROMPTS)]


@pytest.fixture(scope="module")
def alone():
    """What the target says by itself: (prompt, generated), by the plainest loop there is."""
    model = TableModel(**TARGET)
    texts = []
    for prompt in prompts():
        tokens = list(prompt)
        while len(tokens) < len(prompt) + NEW_TOKENS:
            model.rollback(0)
            token = int(model.forward(tokens, 1)[0].argmax())
            if token in STOP:
                break
            tokens.append(token)
        texts.append((prompt, tokens[len(prompt) :]))
    return texts


def spoiled(tokens):
    """An earlier suggestion of which one token turned out otherwise."""
    tokens = list(tokens)
    tokens[len(tokens) // 2] = (tokens[len(tokens) // 2] + 1) % VOCAB
    return tokens


class Given(NamedTuple):
    """What a drafter under test may be made of; `text` is prompt and continuation of the case at hand."""

    target: TableModel
    draft: TableModel
    corpus: Corpus
    text: list[int]


DRAFTERS = {
    "n-gram": lambda given: NgramDrafter([given.corpus]),
    "tail": lambda given: TailDrafter(given.text),
    "tail-spoiled": lambda given: TailDrafter(spoiled(given.text)),
    "model": lambda given: ModelDrafter(given.draft, VOCAB),
    "oracle": lambda given: fakes.oracle(given.target.greedy),
    "always-wrong": lambda given: fakes.always_wrong(given.target.greedy),
    "half-right": lambda given: fakes.half_right(given.target.greedy),
    "scrambled": lambda _: fakes.scrambled(),
    "over-long": lambda given: fakes.over_long(given.target.greedy),
    "out-of-vocabulary": lambda given: fakes.out_of_vocabulary(given.target.greedy),
    "empty": lambda _: fakes.empty(),
}


@pytest.mark.parametrize("k", [0, 1, 2, 4, 8, 16])
@pytest.mark.parametrize("name", DRAFTERS)
def test_no_token_differs(name, k, alone):
    model = TableModel(**TARGET)
    draft_model = TableModel(**TARGET, variant=1, alike=0.7)
    corpus = Corpus([t for prompt, text in alone[:10] for t in (*prompt, *text)])
    accepted = different = 0
    for prompt, text in alone:
        generation = Generation(
            prompt,
            max_new_tokens=NEW_TOKENS,
            stop_ids=STOP,
            vocab_size=VOCAB,
            policy=FixedPolicy(k),
            drafters=[DRAFTERS[name](Given(model, draft_model, corpus, [*prompt, *text]))],
        )
        model.rollback(0)
        committed = [token for step in generate(model, generation) for token in step.tokens]
        different += committed != text or generation.generated != text
        accepted += generation.counters.accepted.total()
    assert different == 0
    # A case that never accepts anything would prove nothing about accepting.
    assert (accepted > 0) == (k > 0 and name not in {"always-wrong", "empty"})


@pytest.mark.parametrize(
    "costs", [PassCosts({1: 32.0, 8: 48.0}), PassCosts({1: 3.0, 16: 3.3}, {"model": 0.4})], ids=str
)
def test_no_token_differs_where_a_policy_chooses_among_drafters(costs, alone):
    model = TableModel(**TARGET)
    draft_model = TableModel(**TARGET, variant=1, alike=0.7)
    policy = AdaptivePolicy(costs)
    ngram = NgramDrafter()
    used = Counter()
    for prompt, text in alone:
        drafters = [TailDrafter(spoiled([*prompt, *text])), ngram, ModelDrafter(draft_model, VOCAB), fakes.scrambled()]
        generation = Generation(
            prompt, max_new_tokens=NEW_TOKENS, stop_ids=STOP, vocab_size=VOCAB, policy=policy, drafters=drafters
        )
        model.rollback(0)
        list(generate(model, generation))
        assert generation.generated == text
        used += generation.counters.drafted
    assert len(used) >= 3


@pytest.mark.parametrize("k", [0, 1, 3, 8])
def test_no_token_differs_under_a_constraint(k, alone):
    """The reference masks by hand: only tokens that continue the forced bytes, then anything."""
    spelled = [b"a", b"b", b"ab", b"ba", b"abb", b"", b"bb", b"x", b"xa", b"aa", b"bab", b"y"]
    forced = b"abba"
    model = TableModel(**TARGET)
    constraint = PrefixConstraint(TokenBytes(spelled), forced)
    for prompt, _ in alone[:300]:
        tokens, text = list(prompt), b""
        while len(tokens) < len(prompt) + NEW_TOKENS:
            model.rollback(0)
            logits = model.forward(tokens, 1)[0].tolist()
            rest = forced[len(text) :]
            fits = [t for t, s in enumerate(spelled) if not rest or (s and (rest.startswith(s) or s.startswith(rest)))]
            token = max(fits, key=lambda t: (logits[t], -t))
            if token in STOP:
                break
            tokens.append(token)
            text += spelled[token]
        for drafter in (fakes.oracle(model.greedy), ModelDrafter(TableModel(**TARGET), VOCAB)):
            generation = Generation(
                prompt,
                max_new_tokens=NEW_TOKENS,
                stop_ids=STOP,
                vocab_size=VOCAB,
                policy=FixedPolicy(k),
                drafters=[drafter],
                constraint=constraint,
            )
            model.rollback(0)
            list(generate(model, generation))
            assert generation.tokens == tokens
