"""Intervals over blocks of keys: wider than over single ones where neighbours are alike."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from bench.bootstrap import blocks, intervals
from bench.percentiles import percentile, ratio


def p50(values):
    return {"p50": percentile(values, 0.5), "share": ratio(sum(value > 5 for value in values), len(values))}


def test_an_interval_holds_the_figure_and_narrows():
    few = intervals([[n, n + 1] for n in range(8)], p50, seed=1, draws=300)
    many = intervals([[n % 8, n % 8 + 1] for n in range(400)], p50, seed=1, draws=300)
    assert few["p50"][0] <= many["p50"][0] <= 4 <= many["p50"][1] <= few["p50"][1]
    assert few["share"][1] - few["share"][0] > many["share"][1] - many["share"][0]


def test_neighbours_that_are_alike_are_one_observation():
    keys = [float(n) for n in range(20) for _ in range(10)]
    share = intervals(blocks(keys, 10), p50, seed=1, draws=300)["share"]
    single = intervals(blocks(keys, 1), p50, seed=1, draws=300)["share"]
    assert share[1] - share[0] > 2 * (single[1] - single[0])


def test_few_blocks_have_no_interval():
    assert intervals([[1.0], [2.0], [3.0], [4.0]], p50, seed=1) == {"p50": None, "share": None}


def test_a_figure_without_values_has_no_interval():
    assert intervals([[1.0]] * 6, lambda _: {"none": None}, seed=1, draws=20) == {"none": None}


@given(keys=st.lists(st.integers()), size=st.integers(1, 30))
def test_blocks_are_the_keys_in_order(keys, size):
    found = blocks(keys, size)
    assert list(chain.from_iterable(found)) == keys
    assert all(len(block) >= size / 2 for block in found[1:])
    assert all(len(block) < 1.5 * size for block in found)
