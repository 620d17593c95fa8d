"""Drafters for tests and demonstrations: right, wrong, rude.

Verification must give the target's text whatever a drafter does; these do everything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from speculative.draft import Draft, DraftRequest

Continue = Callable[[Sequence[int], int], Sequence[int]]
"""The next k tokens of a context, as somebody sees them."""


@dataclass(frozen=True)
class FunctionDrafter:
    """Proposes what a function says: given the request, any number of any tokens."""

    name: str
    function: Callable[[DraftRequest], Sequence[int]]
    free: bool = True

    def propose(self, request: DraftRequest) -> Draft:
        return Draft(tuple(self.function(request)), self.name)


def oracle(truth: Continue) -> FunctionDrafter:
    """Always right."""
    return FunctionDrafter("oracle", lambda request: truth(request.tokens, request.k))


def always_wrong(truth: Continue) -> FunctionDrafter:
    """Never right: every token is the true one's neighbour."""
    return FunctionDrafter(
        "always-wrong", lambda request: [(t + 1) % request.vocab_size for t in truth(request.tokens, request.k)]
    )


def half_right(truth: Continue) -> FunctionDrafter:
    """Right up to the middle of each draft."""

    def propose(request: DraftRequest) -> list[int]:
        tokens = truth(request.tokens, request.k)
        middle = len(tokens) // 2
        return [*tokens[:middle], *((t + 1) % request.vocab_size for t in tokens[middle:])]

    return FunctionDrafter("half-right", propose)


def scrambled(seed: int = 0) -> FunctionDrafter:
    """Tokens without sense, the same for the same context."""

    def propose(request: DraftRequest) -> list[int]:
        state = seed + len(request.tokens) + sum(request.tokens[-4:])
        return [(state * 2654435761 + i * 40503) % 65521 % request.vocab_size for i in range(request.k)]

    return FunctionDrafter("scrambled", propose)


def over_long(truth: Continue) -> FunctionDrafter:
    """Right, but three times as much as was asked for."""
    return FunctionDrafter("over-long", lambda request: truth(request.tokens, 3 * request.k))


def out_of_vocabulary(truth: Continue) -> FunctionDrafter:
    """One right token, then ids that do not exist."""

    def propose(request: DraftRequest) -> list[int]:
        return [*truth(request.tokens, 1), request.vocab_size, -1, 2**40][: request.k]

    return FunctionDrafter("out-of-vocabulary", propose)


def empty() -> FunctionDrafter:
    """Never has anything to say."""
    return FunctionDrafter("empty", lambda _: ())
