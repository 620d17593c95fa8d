"""Draws chains of consecutive positions from a recording: what a draft is trained on."""

from dataclasses import dataclass

import torch
from torch import Tensor

from speculative.distill.recording import Recording


@dataclass(frozen=True, slots=True)
class Chains:
    """`tokens` `[N, k]` int64 at consecutive positions, and `states` `[N, k + 1, H]` from one position before on."""

    tokens: Tensor
    states: Tensor


def draw(
    recording: Recording, windows: Tensor, count: int, length: int, own: float, generator: torch.Generator
) -> Chains:
    """`count` chains of `length` from each of `windows`.

    The share `own` of them begins where the target continued by itself, the others in the text that it was given.
    """
    plan = recording.plan
    last = plan.length - length  # where a chain can begin
    mine = round(own * count)
    starts = torch.empty(len(windows), count, dtype=torch.int64)
    starts[:, :mine] = torch.randint(plan.prompt, last + 1, (len(windows), mine), generator=generator)
    starts[:, mine:] = torch.randint(1, plan.prompt, (len(windows), count - mine), generator=generator)
    rows = windows[:, None, None]
    positions = starts[:, :, None] + torch.arange(-1, length)
    return Chains(
        recording.tokens[rows, positions[:, :, 1:]].flatten(0, 1).long(),
        recording.states[rows, positions].flatten(0, 1),
    )
