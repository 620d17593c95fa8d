"""Whether a suggestion is likely enough to be what the person wants. Pure."""

import math

from lsp.suggestion import Suggestion


def is_sure(suggestion: Suggestion, typed: int, shown: str, least: float) -> bool:
    """Whether `shown`, which follows `typed` code points of `suggestion`, has the confidence `least` (0..1)."""
    if least <= 0:
        return True
    end = typed + len(shown.partition("\n")[0])
    logprob, last = 0.0, typed
    for score in suggestion.scores:
        if typed < score.end and last < end:
            logprob, last = logprob + score.logprob, score.end
    return math.exp(logprob) >= least
