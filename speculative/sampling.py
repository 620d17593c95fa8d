"""From logits to the probabilities that tokens are drawn from.

Draft and target go through the same function, because speculative sampling is lossless only against the distribution
*after* temperature, top-k and top-p. Knows nothing of drafts or sequences.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

_GREEDY_BELOW = 1e-5  # dividing float32 logits by less than this leaves one token anyway, or overflows


class SamplingError(ValueError):
    """A temperature, top-k or top-p that makes no sense."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a token is chosen. Temperature 0 is greedy; `top_k` 0 and `top_p` 1 switch those filters off.

    Raises `SamplingError` for values out of range.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise SamplingError(f"temperature must be a finite number >= 0, not {self.temperature}")
        if self.top_k < 0:
            raise SamplingError(f"top_k must be >= 0 (0 switches it off), not {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise SamplingError(f"top_p must be above 0 and at most 1, not {self.top_p}")

    @property
    def greedy(self) -> bool:
        return self.temperature < _GREEDY_BELOW


def distribution(logits: Tensor, sampling: Sampling, allowed: Tensor | None = None) -> Tensor:
    """Probabilities `[..., V]` of the next token for logits `[..., V]`, in float32 or wider.

    The order is: `allowed` (int64 ids; `None` is all), temperature, top-k, top-p. Top-k keeps every token that ties
    with the k-th. Top-p keeps the smallest set of most probable tokens that reaches `top_p`; among equals the lower id
    goes first. Greedy gives all the weight to the argmax and computes no exponential.
    """
    logits = restrict(logits, allowed)
    if sampling.greedy:
        wide = torch.float64 if logits.dtype == torch.float64 else torch.float32
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(wide)
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    logits = (logits - logits.amax(-1, keepdim=True)) / sampling.temperature  # shifted first: nothing overflows
    if 0 < sampling.top_k < logits.shape[-1]:
        smallest = logits.topk(sampling.top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < smallest, -math.inf)
    probs = logits.softmax(-1)
    return _nucleus(probs, sampling.top_p) if sampling.top_p < 1 else probs


def chosen_logprobs(logits: Tensor, tokens: Sequence[int]) -> tuple[float, ...]:
    """Natural log-probabilities of `tokens` under the first of `logits` `[>= n, V]`, a row each; none is above 0.

    One copy to the host.
    """
    if not tokens:
        return ()
    rows = logits[: len(tokens)]
    rows = rows.float() if rows.dtype in (torch.float16, torch.bfloat16) else rows
    chosen = rows.gather(-1, torch.tensor(tokens, device=rows.device)[:, None])[:, 0]
    logprobs: list[float] = (chosen - rows.logsumexp(-1)).clamp(max=0.0).tolist()
    return tuple(logprobs)


def restrict(logits: Tensor, allowed: Tensor | None) -> Tensor:
    """Logits `[..., V]` with −inf everywhere but at the ids in `allowed`.

    Ids outside the vocabulary are ignored. If none is left the logits come back unchanged: a mask never blocks.
    """
    if allowed is None:
        return logits
    allowed = allowed[(allowed >= 0) & (allowed < logits.shape[-1])].to(logits.device)
    if allowed.numel() == 0:
        return logits
    masked = torch.full_like(logits, -math.inf)
    masked[..., allowed] = logits[..., allowed]
    return masked


def _nucleus(probs: Tensor, top_p: float) -> Tensor:
    ordered, ids = probs.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered  # weight of the more probable tokens: 0 for the first, so it always stays
    kept = ordered.masked_fill(before >= top_p, 0.0)
    probs = torch.zeros_like(probs).scatter(-1, ids, kept)
    return probs / probs.sum(-1, keepdim=True)
