from typing import cast

import pytest
import torch
from torch import Tensor

from speculative.costs import PassCosts
from speculative.distill.acceptance import Acceptance, measure
from speculative.distill.feature_draft import FeatureDraft, Unrolling
from speculative.distill.recording import Recording
from speculative.distill.words import Words

COSTS = PassCosts({1: 10.0, 2: 11.0, 3: 12.0}, {"model": 1.0})


class Says:
    """A draft that says the same tokens at each position, whatever it is fed, and another at every later step."""

    def __init__(self, by_step: list[Tensor]) -> None:
        self._left = list(by_step)

    def __call__(self, embedded: Tensor, states: Tensor, unrolling: Unrolling) -> Tensor:
        said = self._left.pop(0)
        return torch.nn.functional.one_hot(said, 24).float()[None].expand(len(embedded), -1, -1)


def windows(recording: Recording, *tokens: int) -> Recording:
    recording.done = 1
    recording.tokens[0, 12:] = torch.tensor(tokens, dtype=torch.int32)
    return recording


def words() -> Words:
    return Words(torch.arange(24), torch.eye(24), torch.zeros(24, 16))


def test_chains_are_counted_where_the_target_wrote_itself(recording: Recording) -> None:
    follows = [0] * 11 + [1, 2, 3, 4, 5, 6, 7, 8]  # positions 11…18 are followed by the target's tokens
    first = torch.tensor([*follows[:11], 1, 2, 0, 4, 5, 6, 0, 0, 0])  # wrong at 13; right at 11, 12, 14, 15, 16
    second = torch.tensor([*follows[:12], 0, 3, 4, 5, 6, 7, 0, 0])  # wrong at 12; right at 13…17
    draft = cast(FeatureDraft, Says([first, second]))
    found = measure(draft, words(), windows(recording, 1, 2, 3, 4, 5, 6, 7, 8), depth=2)
    assert found.places == 7  # chains begin at 11…17 and go one further
    # first right at 11, 12, 14, 15, 16 of them; then second right at 12 (no), 13, 15, 16, 17
    assert found.chains == pytest.approx((5 / 7, 4 / 7))
    assert found.by_position == pytest.approx((5 / 7, 4 / 5))


def test_a_token_that_the_draft_cannot_say_is_not_accepted(recording: Recording) -> None:
    few = Words(torch.tensor([2, 3]), torch.eye(24)[[2, 3]], torch.zeros(24, 16))
    right = torch.tensor([0] * 11 + [1, 2, 3, 1, 2, 3, 1, 2, 0])
    draft = cast(FeatureDraft, Says([right]))
    assert measure(draft, few, windows(recording, 1, 2, 3, 1, 2, 3, 1, 2), depth=1).chains == pytest.approx((5 / 8,))


def test_the_gain_weighs_tokens_against_what_passes_cost() -> None:
    acceptance = Acceptance((0.8, 0.4), 100)
    # k = 1: 1.8 tokens for 12 ms, k = 2: 2.2 tokens for 14 ms; plain: 1 token for 10 ms
    assert acceptance.gain(COSTS) == (pytest.approx(2.2 * 10 / 14), 2)
    assert acceptance.tokens_per_pass(1) == pytest.approx(1.8)


def test_a_draft_that_is_never_right_is_not_used() -> None:
    assert Acceptance((0.0, 0.0), 100).gain(COSTS) == (1.0, 0)
