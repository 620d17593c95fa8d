"""Small language models that cost microseconds: for tests, and to see the loop work without any weights."""

from collections.abc import Sequence

import torch
from torch import Tensor

from speculative.prefix import common_prefix


class TableModel:
    """A causal model whose logits are looked up by a hash of the last `order` tokens, in float64.

    Serves as a `TargetModel` (`length`, `rollback`, `forward`) and as a `DraftModel` (`sync`, `extend`). Logits are
    whole numbers from 0 to `levels` − 1, so that ties are frequent. `alike` in 0..1 is the share of contexts on which
    two models with the same seed but another `variant` agree.
    """

    def __init__(
        self, vocab_size: int, *, seed: int = 0, order: int = 2, levels: int = 8, variant: int = 0, alike: float = 0.0
    ) -> None:
        self.vocab_size = vocab_size
        self.tokens: list[int] = []
        self._order = order
        self._rows = 1021  # prime, so that the hash spreads
        shape = (self._rows, vocab_size)
        generator = torch.Generator().manual_seed(seed)
        self._table = torch.randint(levels, shape, generator=generator).double()
        if variant:
            generator.manual_seed(seed + 7919 * variant)
            other = torch.randint(levels, shape, generator=generator).double()
            same = torch.rand(self._rows, 1, generator=generator) < alike
            self._table = torch.where(same, self._table, other)

    @property
    def length(self) -> int:
        return len(self.tokens)

    def rollback(self, length: int) -> None:
        del self.tokens[length:]

    def forward(self, tokens: Sequence[int], last: int) -> Tensor:
        self.tokens += tokens
        ends = range(len(self.tokens) - last + 1, len(self.tokens) + 1)
        return self._table[[self._row(end) for end in ends]]

    def sync(self, tokens: Sequence[int]) -> int:
        self.rollback(min(common_prefix(self.tokens, tokens), len(tokens) - 1))
        return self.length

    def extend(self, tokens: Sequence[int]) -> Tensor:
        return self.forward(tokens, 1)[0]

    def greedy(self, tokens: Sequence[int], k: int) -> list[int]:
        """The k tokens that this model alone puts behind `tokens`; leaves the row untouched."""
        window = list(tokens[-self._order :])
        for _ in range(k):
            window.append(int(self._table[_hash(window[-self._order :], self._rows)].argmax()))
        return window[len(window) - k :]

    def _row(self, end: int) -> int:
        return _hash(self.tokens[max(0, end - self._order) : end], self._rows)


def _hash(tokens: Sequence[int], rows: int) -> int:
    value = 17
    for token in tokens:
        value = (value * 31 + token) % rows
    return value
