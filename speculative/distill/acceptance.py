"""How many drafted tokens the target accepts, and what that is worth."""

from dataclasses import dataclass

import torch

from speculative.costs import PassCosts
from speculative.distill.recording import Recording
from speculative.distill.state_draft import StateDraft
from speculative.distill.words import Words

_ROWS = 8  # windows at a time


@dataclass(frozen=True, slots=True)
class Acceptance:
    """`chains[i]` is the chance that the first i + 1 drafted tokens are all accepted; `places` were drafted from."""

    chains: tuple[float, ...]
    places: int

    @property
    def by_position(self) -> tuple[float, ...]:
        """The chance that a drafted token is accepted if those before it were."""
        before = (1.0, *self.chains)
        return tuple(now / then if then else 0.0 for now, then in zip(self.chains, before, strict=False))

    def tokens_per_pass(self, k: int) -> float:
        """Expected with k drafted tokens a pass: those accepted and the target's own."""
        return 1.0 + sum(self.chains[:k])

    def gain(self, costs: PassCosts, drafter: str = "model") -> tuple[float, int]:
        """Speed against the target alone at the best k, and that k; k = 0 is one of them."""
        plain = costs.target(1)
        return max(
            (self.tokens_per_pass(k) * plain / (costs.target(1 + k) + costs.draft(drafter, k)), k)
            for k in range(len(self.chains) + 1)
        )


@torch.no_grad()
def measure(draft: StateDraft, words: Words, recording: Recording, depth: int = 5) -> Acceptance:
    """Greedy drafts from every place where the target continued by itself, `depth` tokens each.

    `recording` must be greedy too. The later steps are fed the target's tokens and not the drafted ones: as long as a
    chain is unbroken they are the same.
    """
    plan, device = recording.plan, words.head.device
    accepted, places = [0] * depth, 0
    head = words.head.to(torch.bfloat16)
    count = plan.continuation - depth  # places with a whole chain behind them
    for rows in torch.split(torch.arange(recording.done), _ROWS):
        tokens = recording.tokens[rows].to(device).long()
        state = recording.states[rows, plan.prompt - 1 : plan.prompt - 1 + count].to(device).float()
        unbroken = torch.ones_like(state[..., 0], dtype=torch.bool)
        for step in range(depth):
            at = plan.prompt + step
            with torch.autocast(device.type, torch.bfloat16):
                state = draft(words.embeddings[tokens[:, at : at + count]], state)
            said = words.ids[(state.to(head.dtype) @ head.T).argmax(-1)]
            unbroken &= said == tokens[:, at + 1 : at + 1 + count]
            accepted[step] += int(unbroken.sum())
        places += unbroken.numel()
    return Acceptance(tuple(count / max(1, places) for count in accepted), places)
