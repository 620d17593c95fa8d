"""Nearest-rank percentiles, small enough to check by hand."""

import pytest

from bench.percentiles import percentile, ratio, summary


@pytest.mark.parametrize(
    ("share", "value"), [(0.0, 10), (0.1, 10), (0.11, 20), (0.5, 50), (0.95, 100), (0.99, 100), (1.0, 100)]
)
def test_the_nearest_rank(share, value):
    assert percentile([30, 10, 20, 50, 40, 60, 70, 80, 100, 90], share) == value


def test_one_value_is_every_percentile():
    assert summary([1.23456]) == {"p50": 1.235, "p95": 1.235, "p99": 1.235}


def test_without_values_there_is_none():
    assert summary([], (50,)) == {"p50": None}
    assert ratio(0, 0) is None


def test_ratio():
    assert ratio(1, 3) == 0.3333
