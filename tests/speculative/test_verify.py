import pytest
import torch

from speculative.randomness import SeededRandomness
from speculative.verify import Verdict, acceptance, residual, verify_greedy, verify_sampled


def peaked(*tokens, vocab=5):
    return torch.nn.functional.one_hot(torch.tensor(tokens), vocab).double()


class Scripted:
    """Randomness that takes decisions from a list and writes down what it was asked."""

    def __init__(self, *decisions):
        self.decisions = list(decisions)
        self.asked = []

    def accept(self, probability):
        self.asked.append(pytest.approx(probability))
        return self.decisions.pop(0)

    def draw(self, probs):
        self.asked.append(pytest.approx(probs.tolist()))
        return self.decisions.pop(0)


@pytest.mark.parametrize(
    ("draft", "verdict"),
    [
        ((), Verdict((1,), 0)),
        ((1, 2, 3), Verdict((1, 2, 3, 4), 3)),
        ((1, 2, 0), Verdict((1, 2, 3), 2)),
        ((0, 2, 3), Verdict((1,), 0)),
        ((1, 99, 3), Verdict((1, 2), 1)),
        ((-4, 2, 3), Verdict((1,), 0)),  # not the same as id 1, although an index of −4 would be
    ],
)
def test_greedy_accepts_the_argmax_only(draft, verdict):
    assert verify_greedy(peaked(1, 2, 3, 4)[: len(draft) + 1], draft) == verdict


def test_greedy_ties_go_where_argmax_sends_the_target_alone():
    logits = torch.tensor([[0.0, 7.0, 7.0], [7.0, 7.0, 7.0]])
    assert verify_greedy(logits, [2]) == Verdict((1,), 0)
    assert verify_greedy(logits, [1]) == Verdict((1, 0), 1)


def test_sampled_accepts_with_p_over_q_and_adds_a_bonus():
    p = torch.tensor([[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]])
    q = torch.tensor([[0.8, 0.2], [0.1, 0.9]])
    script = Scripted(True, True, 1)
    assert verify_sampled(p, [0, 1], q, script) == Verdict((0, 1, 1), 2)
    assert script.asked == [0.5 / 0.8, 0.75 / 0.9, [0.1, 0.9]]


def test_sampled_replaces_a_rejected_token_from_the_residual():
    p = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    q = torch.tensor([[0.1, 0.7, 0.2]])
    script = Scripted(False, 0)
    assert verify_sampled(p, [1], q, script) == Verdict((0,), 0)
    assert script.asked == [0.3 / 0.7, [1.0, 0.0, 0.0]]  # p − q is 0.4, −0.4, 0


def test_sampled_without_q_draws_once_per_token():
    p = torch.tensor([[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]])
    script = Scripted(0, 0)
    assert verify_sampled(p, [0, 1], None, script) == Verdict((0, 0), 1)
    assert script.asked == [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize("stranger", [3, -1, 2**40])
@pytest.mark.parametrize("q", [None, torch.tensor([[0.2, 0.3, 0.5]]), torch.tensor([[0.1, 0.1, 0.1, 0.7]])])
def test_ids_outside_the_vocabulary_are_rejected(stranger, q):
    verdict = verify_sampled(torch.full((2, 3), 1 / 3), [stranger], q, SeededRandomness(0))
    assert verdict.accepted == 0
    assert 0 <= verdict.tokens[0] < 3


def test_a_token_its_own_q_excludes_is_replaced_from_p():
    p, q = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([1.0, 0.0, 0.0])
    assert acceptance(p, q, 1) == 0.0
    assert torch.equal(residual(p, q, 1), p)


def test_an_empty_residual_falls_back_to_p():
    p = torch.tensor([0.5, 0.5])
    assert torch.equal(residual(p, p + 1e-7, 0), p)


def test_vocabularies_of_different_width():
    p, narrow, wide = torch.tensor([0.2, 0.3, 0.5]), torch.tensor([0.6, 0.4]), torch.tensor([0.1, 0.1, 0.1, 0.7])
    assert residual(p, narrow, 0).tolist() == pytest.approx([0.0, 0.0, 1.0])
    assert residual(p, wide, 3).tolist() == pytest.approx([1 / 7, 2 / 7, 4 / 7])
    assert acceptance(p, wide, 3) == 0.0
    assert p.tolist() == pytest.approx([0.2, 0.3, 0.5])  # left as it was
