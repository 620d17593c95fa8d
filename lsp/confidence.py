"""How likely it is that a suggestion's first line is what the person wants to write, from 0 to 1.

A logistic model over what the target model said of its own tokens and where the cursor stands. The weights are fitted
by `python -m bench.quality.fit` on files of other packages than those that the published figures are from; the page on
quality says which. Pure; knows nothing of documents.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from completion_server.protocol import TokenScore

Place = Literal["line", "word", "mark"]
"""Where a suggestion begins: on an empty line, inside or behind a word, behind anything else."""

WEIGHTS: dict[str, float] = {
    "bias": 0.0,
    "sum": 1.0,
    "mean": 0.0,
    "least": 0.0,
    "length": 0.0,
    "word": 0.0,
    "mark": 0.0,
}


def confidence(scores: Sequence[TokenScore], length: int, place: Place) -> float:
    """The chance that the next `length` code points, those of the first line that would be shown, are right.

    `scores` begin at the cursor and may go on behind `length`; a token that reaches over it counts. 0 where there is
    nothing to go by.
    """
    found = features(scores, length, place)
    return 0.0 if found is None else chance(found, WEIGHTS)


def features(scores: Sequence[TokenScore], length: int, place: Place) -> dict[str, float] | None:
    """What the weights are for; None without text or scores."""
    starts = [0, *(score.end for score in scores)]
    logprobs = [max(_LEAST, score.logprob) for start, score in zip(starts, scores, strict=False) if start < length]
    if not logprobs:
        return None
    return {
        "bias": 1.0,
        "sum": sum(logprobs),
        "mean": sum(logprobs) / len(logprobs),
        "least": min(logprobs),
        "length": math.log(length),
        **{name: float(name == place) for name in get_args(Place)[1:]},
    }


def chance(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The logistic function of the weighted features."""
    logit = sum(weights[name] * value for name, value in found.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


def place_of(before: str) -> Place:
    """From the text in front of the cursor."""
    line = before[before.rfind("\n") + 1 :]
    if not line.strip():
        return "line"
    return "word" if line[-1].isalnum() or line[-1] == "_" else "mark"


_LEAST = -20.0  # of one token; what is less likely than that is no more wrong
