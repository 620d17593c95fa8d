"""The estimate falls with every doubt of the model, looks at the first line alone, and is a chance."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.protocol import TokenScore
from lsp.confidence import WEIGHTS, confidence, features

LINE = (TokenScore(4, -0.1), TokenScore(9, -0.5), TokenScore(10, -0.2))


def test_the_features_of_a_line_by_hand() -> None:
    assert features(LINE, 10) == pytest.approx({"bias": 1.0, "logprob": -0.8, "length": math.log(10)})
    assert WEIGHTS.keys() == {"bias", "logprob", "length"}


def test_it_is_the_logistic_of_the_weighted_features() -> None:
    found = features(LINE, 10)
    assert found is not None
    logit = sum(WEIGHTS[name] * value for name, value in found.items())
    assert confidence(LINE, 10) == pytest.approx(1 / (1 + math.exp(-logit)))


def test_what_stands_behind_the_first_line_does_not_matter_but_the_token_that_ends_it_does() -> None:
    behind = (*LINE, TokenScore(20, -9.0))
    assert confidence(behind, 10) == confidence(LINE, 10)
    assert confidence(behind, 11) < confidence(LINE, 10)
    assert features(LINE, 5) == pytest.approx(features(LINE[:2], 5))


def test_without_scores_nothing_speaks_against_it() -> None:
    assert confidence((), 10) == 1.0


@given(
    st.lists(st.floats(-math.inf, 0), min_size=1, max_size=40),
    st.integers(1, 60),
    st.integers(0, 39),
)
def test_it_is_a_chance_and_a_doubt_never_raises_it(logprobs, length, index) -> None:
    scores = [TokenScore(number + 1, logprob) for number, logprob in enumerate(logprobs)]
    sure = confidence(scores, length)
    assert 0.0 <= sure <= 1.0
    index %= len(scores)
    doubtful = [*scores]
    doubtful[index] = TokenScore(index + 1, scores[index].logprob - 1.0)
    assert confidence(doubtful, length) <= sure + 1e-12


def test_a_longer_line_that_is_as_likely_is_surer() -> None:
    assert confidence([TokenScore(20, -1.0)], 20) > confidence([TokenScore(5, -1.0)], 5)
