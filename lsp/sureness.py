"""How likely it is that a suggestion is what the person wants. Pure."""

from collections.abc import Sequence

from completion_server.protocol import TokenScore
from lsp.confidence import confidence


def sureness(scores: Sequence[TokenScore], shown: str) -> float:
    """The confidence (0..1) in the first line with text of `shown`. `scores` begin where it does."""
    blank = len(shown) - len(shown.lstrip())
    end = shown.find("\n", blank)
    return confidence(scores, len(shown) if end < 0 else end)


def shifted(scores: Sequence[TokenScore], by: int) -> tuple[TokenScore, ...]:
    """The scores of a text without its first `by` code points."""
    return tuple(TokenScore(score.end - by, score.logprob) for score in scores if score.end > by)
