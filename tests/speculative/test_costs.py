import pytest

from speculative.costs import CostError, PassCosts


def test_between_measured_widths_it_interpolates():
    costs = PassCosts({1: 32.0, 8: 46.0, 16: 54.0})
    assert [costs.target(w) for w in (1, 2, 4, 8, 12, 16)] == [32.0, 34.0, 38.0, 46.0, 50.0, 54.0]


def test_outside_it_goes_on_with_the_last_slope_and_stays_flat_below():
    costs = PassCosts({16: 54.0, 4: 38.0, 8: 46.0})
    assert costs.target(1) == 38.0
    assert costs.target(24) == 62.0
    assert PassCosts({4: 20.0}).target(8) == 40.0
    assert PassCosts({4: 20.0}).target(2) == 20.0


def test_padded_widths_cost_what_they_are_padded_to():
    costs = PassCosts({1: 3.0, 4: 3.2, 16: 4.0}, padded=True)
    assert [costs.target(w) for w in (1, 2, 4, 5, 16)] == [3.0, 3.2, 3.2, 4.0, 4.0]
    assert costs.target(28) == pytest.approx(4.8)


def test_draft_steps():
    costs = PassCosts({1: 1.0}, {"model": 0.5})
    assert costs.draft("model", 4) == 2.0
    assert costs.draft("n-gram", 4) == 0.0


@pytest.mark.parametrize(
    ("target", "draft"), [({}, {}), ({0: 1.0}, {}), ({1: 0.0}, {}), ({1: 1.0, 2: -1.0}, {}), ({1: 1.0}, {"m": -0.1})]
)
def test_impossible_measurements_are_refused(target, draft):
    with pytest.raises(CostError):
        PassCosts(target, draft)


def test_attention_makes_long_sequences_dearer_along_a_line():
    costs = PassCosts(
        {1: 10.0, 8: 18.0}, {"model": 1.0}, positions=500, longer_ms={1: 15.0, 8: 43.0}, longer_positions=3000
    )
    assert costs.behind(100) == costs.behind(500) == costs
    assert (costs.behind(3000).target(1), costs.behind(3000).target(8)) == (15.0, 43.0)
    assert (costs.behind(1750).target(1), costs.behind(1750).target(8)) == (12.5, 30.5)
    assert costs.behind(5500).target(1) == 20.0
    assert costs.behind(1750).draft("model", 2) == 2.0


def test_a_clock_that_was_late_at_first_makes_nothing_cheaper():
    costs = PassCosts({1: 10.0}, positions=0, longer_ms={1: 9.0}, longer_positions=100)
    assert costs.behind(50).target(1) == 10.0


def test_without_longer_measurements_the_length_says_nothing():
    assert PassCosts({1: 10.0}).behind(10_000).target(1) == 10.0


@pytest.mark.parametrize("longer", [{1: 5.0}, {1: 5.0, 2: 6.0}])
def test_longer_measurements_that_do_not_fit_are_refused(longer):
    with pytest.raises(CostError):
        PassCosts({1: 4.0, 2: 5.0}, positions=100, longer_ms=longer, longer_positions=100)
