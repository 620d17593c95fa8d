"""How likely it is that a suggestion's first line is what the person wants to write, from 0 to 1.

A logistic model of two things: how likely the target model found the line, and how long it is (of two lines that it
found equally likely the longer one is right more often). The lowest and the mean probability of a token and the kind
of place added nothing to that. The weights are what `python -m bench.quality.fit` prints. Pure; knows no documents.
"""

import math
from collections.abc import Mapping, Sequence

from completion_server.protocol import TokenScore

WEIGHTS: Mapping[str, float] = {"bias": 0.23, "logprob": 1.4, "length": 0.51}


def confidence(scores: Sequence[TokenScore], length: int) -> float:
    """The chance that the next `length` code points, those of the first line that would be shown, are right.

    `scores` begin at the cursor and may go on behind `length`; a token that reaches over it counts. 1 where nothing
    speaks against it: there are none.
    """
    found = features(scores, length)
    return 1.0 if found is None else chance(found, WEIGHTS)


def features(scores: Sequence[TokenScore], length: int) -> dict[str, float] | None:
    """What the weights are for: the line's log-probability and the logarithm of its length; None without either."""
    starts = [0, *(score.end for score in scores)]
    logprobs = [max(_LEAST, score.logprob) for start, score in zip(starts, scores, strict=False) if start < length]
    return {"bias": 1.0, "logprob": sum(logprobs), "length": math.log(length)} if logprobs else None


def chance(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The logistic function of the weighted features."""
    logit = sum(weights[name] * value for name, value in found.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


_LEAST = -20.0  # of one token; what is less likely than that is no more wrong
