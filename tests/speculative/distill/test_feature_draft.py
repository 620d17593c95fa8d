"""What is trained in parallel must be what a draft in use computes one token after the other."""

import pytest
import torch
from torch import Tensor

from speculative.distill.fakes import SHAPE, ChainTarget
from speculative.distill.feature_draft import FeatureDraft, Unrolling, shifted


def draft_with_random_weights() -> FeatureDraft:
    draft = FeatureDraft(SHAPE).double()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in draft.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.4 + (weight.dim() == 1))
    return draft


def one_after_the_other(draft: FeatureDraft, embedded: Tensor, states: Tensor, start: int, steps: int) -> Tensor:
    """State predicted by the last of `steps` steps that begin at position `start`: one causal pass for each of them,
    over the target's states up to there and the draft's own ones behind.
    """
    fed = shifted(states)
    predicted = torch.empty(0)
    for step in range(steps):
        predicted = draft(embedded, fed, Unrolling())[:, start + step]
        if step + 1 < steps:
            fed = fed.clone()
            fed[:, start + step + 1] = predicted
    return predicted


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_an_unrolled_step_predicts_what_drafting_step_by_step_does(steps: int) -> None:
    draft = draft_with_random_weights()
    generator = torch.Generator().manual_seed(0)
    embedded, states = torch.randn(2, 2, 9, SHAPE.hidden, generator=generator, dtype=torch.float64)
    fed, unrolling = shifted(states), Unrolling()
    predicted = torch.empty(0)
    for _ in range(steps):
        predicted = draft(embedded, fed, unrolling)
        fed = shifted(predicted)
    for start in range(9 - steps + 1):
        expected = one_after_the_other(draft, embedded, states, start, steps)
        torch.testing.assert_close(predicted[:, start + steps - 1], expected, rtol=1e-5, atol=1e-5)


def test_a_prediction_does_not_depend_on_what_comes_later() -> None:
    draft = draft_with_random_weights()
    embedded, states = torch.randn(2, 1, 6, SHAPE.hidden, dtype=torch.float64)
    before = draft(embedded, shifted(states), Unrolling())
    embedded[:, 4:] += 1.0
    states[:, 3:] -= 1.0
    after = draft(embedded, shifted(states), Unrolling())
    torch.testing.assert_close(after[:, :4], before[:, :4])
    assert not torch.allclose(after[:, 4:], before[:, 4:])


def test_it_begins_with_the_layer_of_the_target_and_a_fusion_that_guesses_its_inputs(target: ChainTarget) -> None:
    draft = FeatureDraft(target.shape)
    prompts = torch.randint(24, (32, 20), generator=torch.Generator().manual_seed(2))
    tokens, states = target.continue_(prompts, 4, torch.zeros(32), torch.Generator())
    draft.begin_at(target, tokens, states)
    assert torch.equal(draft.query, target.last_layer.query)
    assert torch.equal(draft.final_norm, target.final_norm)
    guessed = draft.inputs(target.embeddings[tokens], shifted(states)) @ draft.fuse.T
    wanted = target.last_layer_inputs(tokens)
    unexplained = (guessed - wanted).square().sum() / (wanted - wanted.mean((0, 1))).square().sum()
    assert unexplained < 0.35  # 16 embedding dimensions cannot tell 24 tokens apart, but most of it is linear


def test_states_are_fed_one_position_later_and_none_at_the_beginning() -> None:
    states = torch.arange(6.0).view(1, 3, 2)
    assert shifted(states).tolist() == [[[0.0, 0.0], [0.0, 1.0], [2.0, 3.0]]]
