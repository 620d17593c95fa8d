"""Whether a suggestion is likely enough to be what the person wants. Pure."""

from collections.abc import Sequence

from completion_server.protocol import TokenScore
from lsp.confidence import confidence, place_of


def is_sure(scores: Sequence[TokenScore], shown: str, before: str, least: float) -> bool:
    """Whether `shown` has the confidence `least` (0..1) in its first line with text. `scores` begin where it does,
    behind the text `before`.
    """
    if least <= 0:
        return True
    blank = len(shown) - len(shown.lstrip())
    end = shown.find("\n", blank)
    return confidence(scores, len(shown) if end < 0 else end, place_of(before)) >= least


def shifted(scores: Sequence[TokenScore], by: int) -> tuple[TokenScore, ...]:
    """The scores of a text without its first `by` code points."""
    return tuple(TokenScore(score.end - by, score.logprob) for score in scores if score.end > by)
