"""Sampled text has exactly the target's distribution.

First by enumeration: the real loop is run once for every path that its random decisions can take, each path with its
exact probability. Then by 200,000 samples. The expected distribution is computed in plain Python.
"""

import math
from collections import defaultdict
from dataclasses import replace
from functools import partial

import pytest
import torch

from speculative import (
    AdaptivePolicy,
    FixedPolicy,
    Generation,
    ModelDrafter,
    NgramDrafter,
    OpeningDrafter,
    PassCosts,
    PrefixConstraint,
    Sampling,
    SeededRandomness,
    TailDrafter,
    TokenBytes,
    generate,
    verify_sampled,
)
from speculative.drafters import fakes
from speculative.fakes import TableModel

STOP = 3
VOCAB = 4
TARGET = {"vocab_size": VOCAB, "seed": 4, "levels": 4}
PROMPT = [0, 1, 2, 0, 1]


class Path:
    """Randomness that takes given branches first and then always branch 0, and keeps the probability of it all."""

    def __init__(self, branches):
        self._branches = branches
        self._widths = []
        self.probability = 1.0

    def accept(self, probability):
        return bool(self._branch([1 - probability, probability]))

    def draw(self, probs):
        return self._branch(probs.double().tolist())

    def _branch(self, weights):
        possible = [i for i, weight in enumerate(weights) if weight > 0]
        depth = len(self._widths)
        if depth == len(self._branches):
            self._branches.append(0)
        self._widths.append(len(possible))
        chosen = possible[self._branches[depth]]
        self.probability *= weights[chosen] / sum(weights)
        return chosen

    def following(self):
        """The branches of the next path, or `None` after the last."""
        branches = list(self._branches)
        while branches and branches[-1] + 1 == self._widths[len(branches) - 1]:
            branches.pop()
        if branches:
            branches[-1] += 1
        return branches or None


def enumerate_paths(run):
    found = defaultdict(float)
    branches = []
    while branches is not None:
        path = Path(branches)
        found[run(path)] += path.probability
        branches = path.following()
    return found


def plain_distribution(logits, sampling, allowed):
    """Mask, temperature, top-k, top-p with lists and `math.exp`."""
    ids = [i for i in range(len(logits)) if allowed is None or i in allowed]
    if sampling.top_k:
        smallest = sorted((logits[i] for i in ids), reverse=True)[: sampling.top_k][-1]
        ids = [i for i in ids if logits[i] >= smallest]
    weights = {i: math.exp(logits[i] / sampling.temperature) for i in ids}
    total = sum(weights.values())
    nucleus, reached = [], 0.0
    for i in sorted(ids, key=lambda i: (-weights[i], i)):
        if reached >= sampling.top_p:
            break
        nucleus.append(i)
        reached += weights[i] / total
    left = sum(weights[i] for i in nucleus)
    return {i: weights[i] / left for i in nucleus}


def expected_texts(length, sampling, constraint=None):
    """Probability of every text that the target alone can generate."""
    model = TableModel(**TARGET)
    done, open_ = defaultdict(float), {(): 1.0}
    for _ in range(length):
        longer = {}
        for text, probability in open_.items():
            model.rollback(0)
            logits = model.forward([*PROMPT, *text], 1)[0].tolist()
            mask = constraint.allowed(text) if constraint else None
            for token, p in plain_distribution(logits, sampling, None if mask is None else mask.tolist()).items():
                if token == STOP:
                    done[text] += probability * p
                else:
                    longer[(*text, token)] = probability * p
        open_ = longer
    for text, probability in open_.items():
        done[text] += probability
    return done


def total_variation(a, b):
    return sum(abs(a.get(x, 0.0) - b.get(x, 0.0)) for x in {*a, *b}) / 2


class AtOnce(ModelDrafter):
    """A model drafter that may draft in the first pass too, to have more drafted tokens in short texts."""

    free = True


class Unmasked(AtOnce):
    """A drafter that does not care which ids the target has, and draws others too."""

    def propose(self, request):
        return super().propose(replace(request, vocab_size=VOCAB + 2))


class Reduced(TableModel):
    """A draft whose output layer has rows for some tokens only."""

    ids = torch.tensor([0, 2, 3])

    def extend(self, tokens):
        return super().extend(tokens)[self.ids]


def model_drafter(vocab_size, alike=0.0):
    # A seed of its own unless alike; the table of another width differs anyway.
    return AtOnce(TableModel(vocab_size, seed=4, levels=4, variant=1, alike=alike), vocab_size)


DRAFTERS = {
    "model": lambda: model_drafter(VOCAB),
    "similar model": lambda: model_drafter(VOCAB, alike=0.5),
    "model with fewer tokens": lambda: model_drafter(VOCAB - 1),
    "model with more tokens": lambda: model_drafter(VOCAB + 2),
    "model that draws ids the target lacks": lambda: Unmasked(TableModel(VOCAB + 2, seed=5, levels=4), VOCAB + 2),
    "model with a reduced output": lambda: AtOnce(
        Reduced(VOCAB, seed=4, levels=4, variant=1, alike=0.5), VOCAB, output_ids=Reduced.ids
    ),
    "n-gram": NgramDrafter,
    "scrambled": fakes.scrambled,
    "out of vocabulary": lambda: fakes.out_of_vocabulary(TableModel(**TARGET).greedy),
}
SAMPLINGS = [Sampling(1.0), Sampling(0.6), Sampling(1.5, top_k=2), Sampling(1.2, top_p=0.7), Sampling(0.9, 3, 0.9)]


def run_all(drafters, policy, length, sampling, constraint=None):
    target = TableModel(**TARGET)

    def run(path):
        generation = Generation(
            PROMPT,
            max_new_tokens=length,
            stop_ids=frozenset({STOP}),
            vocab_size=VOCAB,
            policy=policy(),
            drafters=drafters,
            sampling=sampling,
            constraint=constraint,
            randomness=path,
        )
        target.rollback(0)
        for _ in generate(target, generation):
            pass
        return tuple(generation.generated)

    return enumerate_paths(run)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_without_drafts_it_is_the_distribution_of_the_target(sampling):
    assert total_variation(run_all([], lambda: FixedPolicy(0), 3, sampling), expected_texts(3, sampling)) < 1e-9


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", DRAFTERS)
def test_every_path_together_gives_the_distribution_of_the_target(name, k, sampling):
    found = run_all([DRAFTERS[name]()], lambda: FixedPolicy(k), 3, sampling)
    assert sum(found.values()) == pytest.approx(1.0)
    assert total_variation(found, expected_texts(3, sampling)) < 1e-9


def test_the_same_where_a_policy_chooses_by_what_was_accepted_before():
    drafters = [NgramDrafter(), fakes.scrambled(), ModelDrafter(TableModel(VOCAB, seed=4, levels=4, variant=1), VOCAB)]
    policy = partial(AdaptivePolicy, PassCosts({1: 10.0, 8: 11.0}, {"model": 0.2}), prior_weight=0.5)
    found = run_all(drafters, policy, 4, Sampling(1.5))
    assert total_variation(found, expected_texts(4, Sampling(1.5))) < 1e-9


def test_the_same_where_one_free_drafter_goes_on_behind_another():
    drafters = [OpeningDrafter([1, 2]), TailDrafter([*PROMPT, 2, 1]), NgramDrafter()]
    found = run_all(drafters, lambda: FixedPolicy(3), 4, Sampling(1.2))
    assert total_variation(found, expected_texts(4, Sampling(1.2))) < 1e-9


@pytest.mark.parametrize("name", ["model", "n-gram", "model with a reduced output"])
def test_the_same_under_a_constraint(name):
    constraint = PrefixConstraint(TokenBytes([b"a", b"ab", b"b", b"c"]), b"ab")
    found = run_all([DRAFTERS[name]()], lambda: FixedPolicy(2), 3, Sampling(1.0), constraint)
    expected = expected_texts(3, Sampling(1.0), constraint)
    assert all(text[0] in (0, 1) for text in expected)
    assert total_variation(found, expected) < 1e-9


def test_a_wrong_rule_would_be_noticed():
    """Guards the test: drawing the replacement from p instead of the residual is off by far more than the bound."""
    p = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], dtype=torch.float64)
    q = torch.tensor([[0.1, 0.7, 0.2]], dtype=torch.float64)

    def wrong(path):
        token = path.draw(q[0])
        return token if path.accept(min(1.0, float(p[0, token] / q[0, token]))) else path.draw(p[0])

    def right(path):
        return verify_sampled(p, [path.draw(q[0])], q, path).tokens[0]

    exact = dict(enumerate(p[0].tolist()))
    assert total_variation(enumerate_paths(wrong), exact) > 0.05
    assert total_variation(enumerate_paths(right), exact) < 1e-12


@pytest.mark.parametrize("stochastic", [True, False], ids=["stochastic", "deterministic"])
def test_200_000_samples_of_two_tokens(stochastic):
    p = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]).double()
    q = torch.tensor([[0.2, 0.5, 0.3]]).double()
    randomness, draft_randomness = SeededRandomness(11), SeededRandomness(11, stream=1)
    n = 200_000
    found = defaultdict(float)
    for _ in range(n):
        draft = [draft_randomness.draw(q[0]) if stochastic else 1]
        found[verify_sampled(p, draft, q if stochastic else None, randomness).tokens] += 1 / n
    first = defaultdict(float)
    second = defaultdict(float)
    for tokens, share in found.items():
        first[tokens[0]] += share
        if len(tokens) == 2:  # the bonus, drawn where the draft was accepted
            second[tokens[1]] += share
    accepted = sum(second.values())
    assert accepted == pytest.approx(0.2 + 0.3 + 0.2 if stochastic else 0.3, abs=0.01)  # Σ min(p, q)
    assert total_variation(first, dict(enumerate(p[0].tolist()))) < 0.01
    assert total_variation({t: s / accepted for t, s in second.items()}, dict(enumerate(p[1].tolist()))) < 0.01


@pytest.mark.parametrize("drafter", [NgramDrafter, fakes.scrambled], ids=["n-gram", "scrambled"])
def test_a_seed_gives_the_same_text_with_and_without_deterministic_drafts(drafter):
    target = TableModel(**TARGET)

    def text(seed, k):
        generation = Generation(
            PROMPT,
            max_new_tokens=30,
            stop_ids=frozenset(),
            vocab_size=VOCAB,
            policy=FixedPolicy(k),
            drafters=[drafter()],
            sampling=Sampling(1.0),
            seed=seed,
        )
        target.rollback(0)
        list(generate(target, generation))
        return generation.generated

    assert len({tuple(text(seed, 0)) for seed in range(20)}) == 20
    for seed in range(20):
        assert text(seed, 0) == text(seed, 1) == text(seed, 5)
