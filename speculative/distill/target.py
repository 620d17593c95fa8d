"""What distillation asks of the model that it makes a draft for."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the target that its draft shares."""

    hidden: int
    intermediate: int
    norm_eps: float


@dataclass(frozen=True, slots=True)
class MlpWeights:
    """A gated MLP of Llama's form: the norm in front of it and its matrices `[out, in]`."""

    norm: Tensor
    gate: Tensor
    up: Tensor
    down: Tensor


class Target(Protocol):
    """A frozen causal language model on `device`.

    Its *states* are the last hidden states behind the final norm: `states @ head.T` are its logits.
    """

    device: torch.device
    shape: Shape
    embeddings: Tensor  # [V, H]
    head: Tensor  # [V, H]
    final_norm: Tensor  # [H]
    last_mlp: MlpWeights

    def continue_(
        self, prompts: Tensor, count: int, temperatures: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Append `count` tokens of the target's own to each row of `prompts` `[N, P]` (int64).

        Row i is sampled at `temperatures[i]`; 0 is greedy. Returns tokens `[N, P + count]` and states
        `[N, P + count, H]`, those of the last token included.
        """

    def last_mlp_inputs(self, tokens: Tensor) -> Tensor:
        """What the MLP of the last layer reads in front of its norm, `[N, L, H]`, for `tokens` `[N, L]`."""
