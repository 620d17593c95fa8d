"""The model says token t + 1 behind token t, with a probability that the test gives it."""

import pytest
import torch

from speculative import (
    NO_DRAFT,
    AdaptivePolicy,
    Draft,
    DraftRequest,
    Generation,
    Mark,
    ModelDrafter,
    PassCosts,
    Sampling,
    SeededRandomness,
    Steps,
)
from speculative.advised import advised
from speculative.drafters import fakes
from speculative.outlook import Outlook

VOCAB = 50
COSTS = PassCosts({1: 10.0, 11: 20.0}, {"model": 0.5})


class Counting:
    """A `DraftModel` without a memory; `sure` is the probability of the next number."""

    def __init__(self, sure=0.9):
        self.sure = sure
        self.steps = 0

    def sync(self, tokens):
        return len(tokens) - 1

    def extend(self, tokens):
        self.steps += len(tokens)
        probabilities = torch.full((VOCAB,), (1 - self.sure) / (VOCAB - 1))
        probabilities[(tokens[-1] + 1) % VOCAB] = self.sure
        return probabilities.log()


def request(k=4, stop=frozenset(), tokens=(1, 2, 3)):
    return DraftRequest(tokens, 3, k, VOCAB, Sampling(), stop, None, SeededRandomness(0), lambda: False)


def draft(model, guesses=NO_DRAFT, behind=lambda _: NO_DRAFT, purse=100.0, **options):
    outlook = Outlook(COSTS, 0, 0.1, purse, lambda mark: mark.chance)
    return advised(ModelDrafter(model, VOCAB, expected=(0.6, 0.5)), request(**options), guesses, behind, outlook)


def guessed(*tokens, chance):
    return Draft(tokens, "text", marks=tuple(Mark("text", 3, chance) for _ in tokens))


def test_where_the_text_knows_nothing_the_model_drafts():
    found = draft(Counting())
    assert found.tokens == (4, 5, 6, 7)
    assert found.drafter == "model"
    assert found.steps == Steps("model", 4)
    assert [(o.position, o.token) for o in found.opinions[::2]] == [(0, 4), (1, 5), (2, 6), (3, 7)]


def test_an_unsure_model_is_heard_and_not_drafted():
    found = draft(Counting(sure=0.05))
    assert found.tokens == ()
    assert found.steps == Steps("model", 1)
    assert {opinion.token for opinion in found.opinions} == {4}


def test_a_sure_guess_costs_no_step():
    model = Counting()
    found = draft(model, guessed(9, 8, 7, 6, chance=0.9))
    assert found.tokens == (9, 8, 7, 6)
    assert model.steps == 0
    assert found.marks == guessed(9, 8, 7, 6, chance=0.9).marks


def test_two_who_agree_are_surer_than_one():
    found = draft(Counting(sure=0.6), guessed(4, chance=0.3), k=1)
    assert found.tokens == (4,)
    (mark,) = found.marks
    assert mark.drafter == "text"
    assert mark.chance > 0.6


@pytest.mark.parametrize(("sure", "token", "drafter"), [(0.9, 4, "model"), (0.1, 9, "text")])
def test_of_two_who_differ_the_likelier_is_drafted(sure, token, drafter):
    found = draft(Counting(sure), guessed(9, chance=0.25), k=1)
    assert found.tokens == (token,)
    assert found.marks[0].drafter == drafter


def test_the_text_goes_on_behind_the_model():
    asked = []

    def behind(drafted):
        asked.append(list(drafted))
        return guessed(20, 21, 22, chance=0.95)

    found = draft(Counting(), guessed(9, chance=0.1), behind)
    assert found.tokens == (4, 20, 21, 22)
    assert asked == [[4]]
    assert [mark.drafter for mark in found.marks] == ["model", "text", "text", "text"]


def test_the_model_goes_on_behind_the_text_and_is_fed_what_it_missed():
    model = Counting()
    found = draft(model, guessed(9, 10, chance=0.9))
    assert found.tokens == (9, 10, 11, 12)
    assert model.steps == 3 + 1  # behind the last token of the text and both guesses; then behind its own
    assert found.steps == Steps("model", 4)


def test_it_ends_with_a_stop_token():
    assert draft(Counting(), stop=frozenset({5})).tokens == (4, 5)


def test_an_empty_purse_asks_nobody():
    model = Counting()
    assert draft(model, purse=0.0) == Draft((), "", steps=Steps("model", 0))
    assert model.steps == 0


def test_with_a_model_that_is_always_wrong_no_more_is_lost_than_the_purse_holds():
    """The passes of 400 tokens and all steps, against the target alone."""
    policy = AdaptivePolicy(COSTS)
    spent = plain = 0.0
    for start in range(20):
        model = Counting()
        generation = Generation(
            [start],
            max_new_tokens=20,
            stop_ids=frozenset(),
            vocab_size=VOCAB,
            policy=policy,
            drafters=[fakes.scrambled(), ModelDrafter(model, VOCAB)],
        )
        while generation.finished is None:
            k = len(generation.propose(16).tokens)
            generation.commit(torch.eye(VOCAB)[torch.full((1 + k,), 49)])
            spent += COSTS.target(1 + k)
        plain += 20 * COSTS.target(1)
        spent += model.steps * 0.5
        assert model.steps or start
    assert generation.generated == [49] * 20
    assert plain / spent >= 0.97


def test_a_model_that_is_often_wrong_is_asked_less():
    def steps(right):
        policy = AdaptivePolicy(COSTS)
        model = Counting()
        generation = Generation(
            [7], max_new_tokens=60, stop_ids=frozenset(), vocab_size=VOCAB, policy=policy,
            drafters=[ModelDrafter(model, VOCAB)],
        )  # fmt: skip
        while generation.finished is None:
            tokens = [generation.tokens[-1], *generation.propose(1).tokens]
            generation.commit(torch.eye(VOCAB)[[(token + 1 + (not right)) % VOCAB for token in tokens]])
        return model.steps / generation.counters.passes

    assert steps(right=False) < steps(right=True)
