"""What the draft is trained for: to say what the target says, from its own predictions too."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from speculative.distill.state_draft import StateDraft
from speculative.distill.words import Words


@dataclass(frozen=True, slots=True)
class Objective:
    """Cross-entropy with the target's distribution over the draft's words, summed over the steps of a chain.

    Step s starts from the state that step s - 1 predicted, as in HASS (Zhang et al., 2024) and EAGLE-3 (Li et al.,
    2025, section 3.2), and counts `decay` to the power of s: a later token only matters if those before it were right.
    `hard` is the share of the target's first choice alone in what is to be said.
    """

    decay: float = 0.8
    hard: float = 0.0

    def loss(self, draft: StateDraft, words: Words, tokens: Tensor, states: Tensor) -> Tensor:
        """Of chains: `tokens` `[N, k]` that are fed one after the other, and the target's `states` `[N, k + 1, H]`, the
        first of them before the first token.
        """
        head = words.head.to(torch.bfloat16)
        weights = torch.full((len(tokens),), 1 / len(tokens), device=tokens.device)
        state, loss = states[:, 0], torch.zeros((), device=tokens.device)
        for step in range(tokens.shape[1]):
            state = draft(words.embeddings[tokens[:, step]], state)
            wanted = self._wanted(states[:, step + 1].to(head.dtype) @ head.T)
            entropy = _CrossEntropy.apply(state, head, wanted, weights)  # type: ignore[no-untyped-call]
            loss = loss + self.decay**step * entropy
        return loss

    def _wanted(self, logits: Tensor) -> Tensor:
        wanted = torch.softmax(logits, dim=-1)
        if self.hard:
            wanted.mul_(1 - self.hard)
            wanted.scatter_add_(-1, logits.argmax(-1, keepdim=True), wanted.new_full((len(logits), 1), self.hard))
        return wanted


class _CrossEntropy(torch.autograd.Function):
    """Σ weights · cross-entropy of `wanted` `[N, V]` with softmax(states @ head.T), for `states` `[N, H]`.

    The gradient is made on the way forward and in place: over thousands of words per place, what autograd would keep
    and pass over again takes longer than the matrix products.
    """

    @staticmethod
    def forward(ctx: Any, states: Tensor, head: Tensor, wanted: Tensor, weights: Tensor) -> Tensor:
        logits = states.to(head.dtype) @ head.T
        said = torch.softmax(logits, dim=-1)
        total = logits.amax(-1).float() - said.amax(-1).float().log()  # log Σ exp
        loss: Tensor = ((total - torch.linalg.vecdot(wanted, logits).float()) * weights).sum()
        ctx.save_for_backward((said.sub_(wanted).mul_(weights[:, None].to(said.dtype)) @ head).to(states.dtype))
        return loss

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * gradients[0], None, None, None
