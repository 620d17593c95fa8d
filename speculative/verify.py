"""Which drafted tokens the target agrees with, and the one token that it adds.

Sources of the sampling rule: Leviathan, Kalman, Matias, "Fast Inference from Transformers via Speculative Decoding"
(2023), algorithm 1; Chen et al., "Accelerating Large Language Model Decoding with Speculative Sampling" (2023),
algorithm 2. Pure functions over tensors; masks, stop tokens and limits are decided elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from speculative.randomness import Randomness


@dataclass(frozen=True, slots=True)
class Verdict:
    """`tokens` are the first `accepted` drafted tokens and then one of the target's own."""

    tokens: tuple[int, ...]
    accepted: int


def verify_greedy(logits: Tensor, draft_tokens: Sequence[int]) -> Verdict:
    """Accept drafted tokens as long as each is the target's argmax.

    `logits` `[k + 1, V]` are the target's at the last committed token and at each of the k drafted ones. Ties go to
    the id that `argmax` gives for the target alone. One copy to the host.
    """
    best: list[int] = logits.argmax(dim=-1).tolist()
    accepted = 0
    for token, own in zip(draft_tokens, best, strict=False):
        if token != own:
            break
        accepted += 1
    return Verdict((*draft_tokens[:accepted], best[accepted]), accepted)


def verify_sampled(p: Tensor, draft_tokens: Sequence[int], q: Tensor | None, randomness: Randomness) -> Verdict:
    """Accept or replace drafted tokens so that what is committed is distributed exactly as `p`.

    `p` `[k + 1, V]` and `q` `[k, V']` are the target's and the draft's probabilities after the same sampling settings.
    `q` is `None` for a deterministic drafter. V' may differ from V: an id that only one of them has counts 0 in the
    other. A drafted id outside the vocabulary is rejected.
    """
    for i, token in enumerate(draft_tokens):
        if q is None:
            # q is 1 at the token. One draw from p does both steps of the rule: it is the token with chance
            # p(token) = min(1, p / q), and otherwise it is distributed as p without the token, which is the residual.
            # One draw per committed token, in order: for a seed the text is the same with and without such drafts.
            drawn = randomness.draw(p[i])
            if drawn != token:
                return Verdict((*draft_tokens[:i], drawn), i)
        elif not randomness.accept(acceptance(p[i], q[i], token)):
            return Verdict((*draft_tokens[:i], randomness.draw(residual(p[i], q[i], token))), i)
    return Verdict((*draft_tokens, randomness.draw(p[len(draft_tokens)])), len(draft_tokens))


def acceptance(p: Tensor, q: Tensor, token: int) -> float:
    """min(1, p(token) / q(token)) for `p` `[V]` and `q` `[V']`; 0 where q(token) is 0 (see `residual`)."""
    chance = _at(q, token)
    return min(1.0, _at(p, token) / chance) if chance > 0 else 0.0


def residual(p: Tensor, q: Tensor, token: int) -> Tensor:
    """Probabilities `[V]` to draw from when `token` was rejected: max(p − q, 0), renormalised.

    It is `p` itself in two cases. If q(token) is 0 the token was not drawn from q, so q says nothing about this step.
    If nothing is left of p − q the two are equal up to rounding.
    """
    if _at(q, token) <= 0:
        return p
    shared = min(p.shape[-1], q.shape[-1])
    rest = p.clone()
    rest[:shared] -= q[:shared]
    rest = rest.clamp(min=0)
    total = rest.sum()
    return rest / total if total > 0 else p


def _at(probs: Tensor, token: int) -> float:
    return float(probs[token]) if 0 <= token < probs.shape[-1] else 0.0
