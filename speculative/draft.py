"""Proposed tokens, and what a source of proposals looks like."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from speculative.constraint import Constraint
from speculative.randomness import Randomness
from speculative.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Draft:
    """Tokens that one drafter proposes to follow the context.

    `probs` `[k, V]` are the distributions that the tokens were drawn from; `None` says that the drafter is
    deterministic: the same context and history always give the same tokens. `match` is how many tokens of the context
    the drafter found again, as far as it counts; 0 where that means nothing. The policy keeps its statistics by it.
    """

    tokens: tuple[int, ...]
    drafter: str
    probs: Tensor | None = None
    match: int = 0

    def head(self, k: int) -> "Draft":
        """The first k tokens of it."""
        if k >= len(self.tokens):
            return self
        return Draft(self.tokens[:k], self.drafter, None if self.probs is None else self.probs[:k], self.match)


NO_DRAFT = Draft((), "")


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What a drafter may know. `tokens` is the live list of the sequence: read it, do not keep it.

    `vocab_size` counts the ids that the target may emit. `randomness` is the drafter's own stream, not the target's.
    """

    tokens: Sequence[int]
    prompt_length: int
    k: int
    vocab_size: int
    sampling: Sampling
    stop_ids: frozenset[int]
    constraint: Constraint | None
    randomness: Randomness
    cancelled: Callable[[], bool]


class Drafter(Protocol):
    """A source of drafts for one sequence at a time."""

    @property
    def name(self) -> str:
        """Names the drafter in statistics; unique within a generation."""

    @property
    def free(self) -> bool:
        """True if asking costs next to nothing: such drafters are asked before anything is decided."""

    def propose(self, request: DraftRequest) -> Draft:
        """At most `request.k` tokens to follow `request.tokens`; none is a good answer."""
