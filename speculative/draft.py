"""Proposed tokens, and what a source of proposals looks like."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from torch import Tensor

from speculative.constraint import Constraint
from speculative.randomness import Randomness
from speculative.sampling import Sampling


class Mark(NamedTuple):
    """What a drafter knows about one token that it proposes, before the target has seen it.

    Tokens with the same `drafter` and `kind` should be accepted equally often: the policy keeps its statistics by
    them. `chance` is how often that is, before any was seen; `None` where the drafter cannot say.
    """

    drafter: str
    kind: int
    chance: float | None = None


def by_position(drafter: str, k: int) -> tuple[Mark, ...]:
    """The marks of a drafter that can tell its k tokens apart by their position alone."""
    return tuple(Mark(drafter, position) for position in range(k))


class Steps(NamedTuple):
    """Steps of a model that drafts."""

    drafter: str = ""
    number: int = 0


class Opinion(NamedTuple):
    """What a model says at `position` (from 0) of a draft, whatever was drafted there."""

    position: int
    token: int
    mark: Mark


@dataclass(frozen=True, slots=True)
class Draft:
    """Tokens that are proposed to follow the context.

    `probs` `[k, V]` are the distributions that the tokens were drawn from; `None` says that the drafter is
    deterministic: the same context and history always give the same tokens. There is one mark for each token, by its
    position if none are given. A draft may be the work of several drafters: `drafter` began it, the marks say who
    went on.
    `steps` were taken for it, and `opinions` heard about it; both may be there where no token is.
    """

    tokens: tuple[int, ...]
    drafter: str
    probs: Tensor | None = None
    marks: tuple[Mark, ...] = ()
    steps: Steps = Steps()  # noqa: RUF009 (immutable)
    opinions: tuple[Opinion, ...] = ()

    def __post_init__(self) -> None:
        if not self.marks:
            object.__setattr__(self, "marks", by_position(self.drafter, len(self.tokens)))

    def head(self, k: int) -> "Draft":
        """The first k tokens of it."""
        if k >= len(self.tokens):
            return self
        probs = None if self.probs is None else self.probs[:k]
        return replace(self, tokens=self.tokens[:k], probs=probs, marks=self.marks[:k])

    def then(self, more: "Draft") -> "Draft":
        """Both drafts, one behind the other; both must be deterministic."""
        return Draft(self.tokens + more.tokens, self.drafter, None, self.marks + more.marks)


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

    def allowed(self, drafted: Sequence[int] = ()) -> Tensor | None:
        """Ids that the constraint allows behind `tokens` and `drafted`; `None` is all of them."""
        if self.constraint is None:
            return None
        return self.constraint.allowed([*self.tokens[self.prompt_length :], *drafted])


class Drafter(Protocol):
    """A source of drafts for one sequence at a time."""

    @property
    def name(self) -> str:
        """Names the drafter in statistics; unique within a generation."""

    @property
    def free(self) -> bool:
        """True if asking costs next to nothing: such drafters are asked before anything is decided.

        They must be deterministic, because the draft of one may go on with that of another.
        """

    def propose(self, request: DraftRequest) -> Draft:
        """At most `request.k` tokens to follow `request.tokens`; none is a good answer."""
