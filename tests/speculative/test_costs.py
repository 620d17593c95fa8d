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
