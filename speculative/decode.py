"""The whole loop, for one sequence and any target: draft, verify, commit, roll back."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from torch import Tensor

from speculative.generation import Committed, Generation


class TargetModel(Protocol):
    """One row of a causal language model that remembers what it was fed."""

    @property
    def length(self) -> int:
        """How many tokens the row holds."""

    def rollback(self, length: int) -> None:
        """Forget everything from position `length` on; nothing to do if the row is not longer."""

    def forward(self, tokens: Sequence[int], last: int) -> Tensor:
        """Append `tokens` to the row and return the logits `[last, V]` at the last `last` of them."""


def generate(target: TargetModel, generation: Generation, budget: int = 16) -> Iterator[Committed]:
    """Run `generation` to its end, with at most `budget` drafted tokens a pass; yields what each pass gained.

    The row of `target` may hold a head of the prompt already. Close the iterator to cancel: the row then holds no
    wrong token.
    """
    target.rollback(len(generation.tokens) - 1)  # at least one token is fed: its logits are needed
    while generation.finished is None:
        waiting = generation.tokens[target.length :]
        draft = generation.propose(budget, tail=len(waiting) - 1)
        logits = target.forward([*waiting, *draft.tokens], last=1 + len(draft.tokens))
        committed = generation.commit(logits)
        target.rollback(len(generation.tokens) - 1)  # rejected drafts are forgotten, accepted ones stay
        yield committed
