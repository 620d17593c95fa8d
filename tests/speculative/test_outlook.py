"""Passes of 10 ms and 1 ms for each drafted token, steps of 2 ms; a millisecond yields a tenth of a token."""

import pytest

from speculative.costs import PassCosts
from speculative.draft import Steps
from speculative.outlook import Outlook

COSTS = PassCosts({1: 10.0, 11: 20.0}, {"model": 2.0})
NONE = Steps("model", 0)


def outlook(costs=COSTS, tail=0, rate=0.1, purse=100.0):
    return Outlook(costs, tail, rate, purse, lambda mark: mark.chance)


@pytest.mark.parametrize(("survives", "worth"), [(0.11, True), (0.09, False)])
def test_a_token_must_be_worth_its_place(survives, worth):
    assert outlook().pays(survives, 1, NONE) is worth
    assert outlook().pays(survives, 5, NONE) is worth


def test_where_time_yields_more_a_token_must_be_surer():
    assert outlook(rate=0.1).pays(0.15, 1, NONE)
    assert not outlook(rate=0.2).pays(0.15, 1, NONE)


def test_a_step_must_gain_more_than_it_costs():
    # A right token is worth two, so a gain of g is worth 2 g; a step costs 0.2 tokens, a new place 0.1 more.
    assert outlook().asks(1.0, 0.11, 1, NONE, 1, new=False)
    assert not outlook().asks(1.0, 0.09, 1, NONE, 1, new=False)
    assert not outlook().asks(1.0, 0.14, 1, NONE, 1, new=True)
    assert outlook().asks(1.0, 0.16, 1, NONE, 1, new=True)
    # It counts as often as the tokens before it are right, and two steps cost twice as much.
    assert not outlook().asks(0.5, 0.19, 1, NONE, 1, new=False)
    assert not outlook().asks(1.0, 0.19, 1, NONE, 2, new=False)


def test_nothing_is_done_that_the_purse_cannot_pay():
    # Two tokens and two steps are 6 ms.
    assert outlook(purse=6.0).pays(0.9, 2, Steps("model", 2))
    assert not outlook(purse=5.9).pays(0.9, 2, Steps("model", 2))
    assert outlook(purse=6.0).asks(1.0, 0.9, 2, Steps("model", 1), 1, new=False)
    assert not outlook(purse=5.9).asks(1.0, 0.9, 2, Steps("model", 1), 1, new=False)


def test_the_places_of_a_fixed_shape_cost_nothing_more():
    fixed = PassCosts({1: 10.0, 9: 18.0}, padded=True)
    assert not outlook(fixed).pays(0.5, 1, NONE)  # 8 ms for the first
    assert outlook(fixed).pays(0.5, 8, NONE)  # 1 ms each


def test_what_the_pass_feeds_anyway_is_not_counted():
    steep = PassCosts({1: 10.0, 11: 20.0, 21: 70.0})
    assert outlook(steep).pays(0.3, 1, NONE)
    assert not outlook(steep, tail=11).pays(0.3, 1, NONE)
