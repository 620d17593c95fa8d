from typing import cast

import pytest
import torch
from torch import Tensor

from speculative.costs import PassCosts
from speculative.distill.acceptance import Acceptance, measure
from speculative.distill.recording import Recording
from speculative.distill.state_draft import StateDraft
from speculative.distill.words import Words

COSTS = PassCosts({1: 10.0, 2: 11.0, 3: 12.0}, {"model": 1.0})


class Says:
    """A draft that says given tokens at its first step, from place to place, others at the second, and so on."""

    def __init__(self, *by_step: list[int]) -> None:
        self._left = [torch.tensor(said) for said in by_step]
        self.fed: list[list[int]] = []

    def __call__(self, embedded: Tensor, states: Tensor) -> Tensor:
        self.fed.append(embedded[0, :, 0].int().tolist())
        return torch.nn.functional.one_hot(self._left.pop(0), 24).float()[None]


def only_window(recording: Recording, *tokens: int) -> Recording:
    """The recording with one window, behind whose 12 given tokens the target wrote `tokens`."""
    recording.done = 1
    recording.tokens[0, 12:] = torch.tensor(tokens, dtype=torch.int32)
    return recording


def words(ids: list[int]) -> Words:
    """A state scores a token by its entry at it; an embedding is the token itself."""
    return Words(torch.tensor(ids), torch.eye(24)[ids], torch.arange(24.0)[:, None].expand(24, 16))


def test_chains_are_counted_where_the_target_wrote_itself(recording: Recording) -> None:
    window = only_window(recording, 1, 2, 3, 4, 5, 6, 7, 8)
    draft = Says([2, 3, 0, 5, 6, 7], [0, 4, 5, 6, 0, 8])  # behind 1…6, then behind 2…7
    found = measure(cast(StateDraft, draft), words(list(range(24))), window, depth=2)
    assert draft.fed == [[1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7]]
    # first token: wrong behind 3. Second: wrong behind 1 2 and 5 6; right behind 3 4, which does not count.
    assert found.places == 6
    assert found.chains == pytest.approx((5 / 6, 3 / 6))
    assert found.by_position == pytest.approx((5 / 6, 3 / 5))


def test_a_token_that_the_draft_cannot_say_is_not_accepted(recording: Recording) -> None:
    window = only_window(recording, 1, 2, 3, 1, 2, 3, 1, 2)
    draft = Says([2, 3, 1, 2, 3, 1, 2])  # always right, but 1 is not among its words
    found = measure(cast(StateDraft, draft), words([2, 3]), window, depth=1)
    assert found.chains == pytest.approx((5 / 7,))


def test_the_gain_weighs_tokens_against_what_passes_cost() -> None:
    acceptance = Acceptance((0.8, 0.4), 100)
    # k = 1: 1.8 tokens for 12 ms, k = 2: 2.2 tokens for 14 ms; plain: 1 token for 10 ms
    assert acceptance.gain(COSTS) == (pytest.approx(2.2 * 10 / 14), 2)
    assert acceptance.tokens_per_pass(1) == pytest.approx(1.8)


def test_a_draft_that_is_never_right_is_not_used() -> None:
    assert Acceptance((0.0, 0.0), 100).gain(COSTS) == (1.0, 0)
