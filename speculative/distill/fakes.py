"""A target for tests: says of each token which one follows, and nothing of those before."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from speculative.distill.target import MlpWeights, Shape

SHAPE = Shape(hidden=16, intermediate=32, norm_eps=1e-5)


class ChainTarget:
    """Token t is followed by `follows[t]`; sampled ones are drawn evenly from all tokens. Implements `Target`.

    Its state behind a token is the head's row of the token that follows, so a draft can learn all of it.
    """

    device = torch.device("cpu")
    shape = SHAPE

    def __init__(self, follows: Sequence[int], seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        hidden, inner = SHAPE.hidden, SHAPE.intermediate

        def drawn(*size: int) -> Tensor:
            return torch.randn(*size, generator=generator).div(hidden**0.5)

        self._follows = torch.tensor(follows)
        self.embeddings = hidden**0.5 * functional.normalize(drawn(len(follows), hidden), dim=1)
        self.head = 4 * hidden**0.5 * functional.normalize(drawn(len(follows), hidden), dim=1)
        self._size = 4 * hidden**0.5
        self._into_mlp = drawn(hidden, hidden)
        self.final_norm = torch.ones(hidden)
        self.last_mlp = MlpWeights(
            norm=torch.ones(hidden), gate=drawn(inner, hidden), up=drawn(inner, hidden), down=drawn(hidden, inner)
        )
        self.batches = 0

    def continue_(
        self, prompts: Tensor, count: int, temperatures: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        self.batches += 1
        tokens = prompts
        for _ in range(count):
            drawn = torch.randint(len(self._follows), (len(tokens),), generator=generator)
            chosen = torch.where(temperatures > 0, drawn, self._follows[tokens[:, -1]])
            tokens = torch.cat([tokens, chosen[:, None]], dim=1)
        return tokens, self._states(tokens)

    def last_mlp_inputs(self, tokens: Tensor) -> Tensor:
        """Linear in the token's embedding, so that a fit can find it."""
        inputs: Tensor = self.embeddings[tokens] @ self._into_mlp
        return inputs

    def _states(self, tokens: Tensor) -> Tensor:
        states: Tensor = self.head[self._follows[tokens]] / self._size
        return states
