"""Nearest-rank percentiles, small enough to check by hand."""

import pytest

from bench.percentiles import percentile, ratio, ratio_interval, summary


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


def test_an_interval_holds_the_ratio_and_narrows():
    few, many = ([(1.0, 2.0), (3.0, 2.0)] * count for count in (4, 100))
    wide, narrow = ratio_interval(few), ratio_interval(many)
    assert 0.5 <= wide[0] < narrow[0] < 1.0 < narrow[1] < wide[1] <= 1.5


def test_an_interval_of_equal_ratios_is_one_point():
    assert ratio_interval([(1.0, 2.0), (3.0, 6.0)]) == (0.5, 0.5)


def test_without_pairs_there_is_no_interval():
    with pytest.raises(ValueError, match="no pairs"):
        ratio_interval([])
