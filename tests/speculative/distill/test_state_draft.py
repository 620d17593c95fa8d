from dataclasses import astuple

import pytest
import torch

from speculative.distill.fakes import SHAPE, ChainTarget
from speculative.distill.state_draft import StateDraft

HIDDEN = SHAPE.hidden


def begun(target: ChainTarget, blocks: int = 1) -> StateDraft:
    draft = StateDraft(target.shape, blocks)
    prompts = torch.randint(24, (32, 20), generator=torch.Generator().manual_seed(2))
    tokens, states = target.continue_(prompts, 4, torch.zeros(32), torch.Generator())
    draft.begin_at(target, tokens, states)
    return draft


def test_one_step_by_hand() -> None:
    draft = StateDraft(SHAPE)
    block = draft.blocks[0]
    with torch.no_grad():
        draft.fuse.weight.copy_(torch.cat([torch.eye(HIDDEN), 2 * torch.eye(HIDDEN)], dim=1))
        block.down_proj.weight.zero_()
        draft.norm.weight.fill_(3.0)
    embedded, states = torch.full((HIDDEN,), 0.01), torch.full((HIDDEN,), -2.0)
    # the embedding becomes about 1 in size, so x = 1 - 4 = -3 everywhere, which the norm makes -1, times 3
    assert draft(embedded, states).tolist() == pytest.approx([-3.0] * HIDDEN, abs=0.2)


def test_it_begins_with_the_mlp_of_the_target_and_a_fusion_that_guesses_what_this_reads(target: ChainTarget) -> None:
    draft = begun(target)
    block = draft.blocks[0]
    for layer, weight in zip(
        (block.norm, block.gate_proj, block.up_proj, block.down_proj), astuple(target.last_mlp), strict=True
    ):
        assert torch.equal(layer.weight, weight)
    assert torch.equal(draft.norm.weight, target.final_norm)
    tokens = torch.arange(24)[None]
    _, states = target.continue_(tokens, 0, torch.zeros(1), torch.Generator())
    guessed = draft.inputs(target.embeddings[tokens[:, 1:]], states[:, :-1]) @ draft.fuse.weight.T
    torch.testing.assert_close(guessed, target.last_mlp_inputs(tokens)[:, 1:], rtol=0.05, atol=0.05)


def test_more_blocks_change_nothing_at_first_and_can_learn(target: ChainTarget) -> None:
    one, two = begun(target), begun(target, blocks=2)
    embedded, states = torch.randn(2, 5, HIDDEN, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(one(embedded, states), two(embedded, states))
    two(embedded, states).sum().backward()
    assert two.blocks[0].down_proj.weight.grad is not None
    assert two.blocks[0].down_proj.weight.grad.abs().sum() > 0


def test_the_size_of_an_embedding_does_not_matter() -> None:
    draft = StateDraft(SHAPE)
    embedded, states = torch.randn(2, HIDDEN, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        draft.inputs(embedded, states), draft.inputs(100 * embedded, states), rtol=1e-2, atol=1e-3
    )
