"""Intervals of figures and of their differences, where the answer is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.compare.paired import LEAST, difference, interval


def mean(turns) -> float | None:
    return sum(turns) / len(turns) if turns else None


def test_what_is_the_same_in_every_turn_is_sure() -> None:
    assert interval([0.25] * LEAST, mean) == (0.25, 0.25)


def test_of_few_turns_there_is_no_interval() -> None:
    assert interval([0.25] * (LEAST - 1), mean) is None
    assert difference([1.0] * 9, [2.0] * (LEAST - 1), mean) is None


def test_pairing_takes_out_what_turns_have_in_common() -> None:
    """Turns differ by hundreds, the pairs by exactly one in each: alone they overlap, paired they do not."""
    hard = [float(100 * turn) for turn in range(20)]
    harder = [value + 1 for value in hard]
    low, high = interval(hard, mean), interval(harder, mean)
    assert low is not None
    assert high is not None
    assert low[1] > high[0]
    assert difference(harder, hard, mean) == (1.0, 1.0)


def test_turns_that_only_one_has_done_do_not_count() -> None:
    assert difference([3.0] * LEAST + [900.0], [1.0] * LEAST, mean) == (2.0, 2.0)


def test_a_draw_without_a_value_leaves_no_interval() -> None:
    assert interval([None, *[1.0] * 5], lambda turns: None if None in turns else 1.0) is None


@given(st.lists(st.floats(0, 1), min_size=LEAST, max_size=30))
def test_the_figure_of_all_turns_lies_within(turns: list[float]) -> None:
    found = interval(turns, mean)
    assert found is not None
    assert min(turns) - 1e-4 <= found[0] <= found[1] <= max(turns) + 1e-4


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_gives_the_same_interval(seed: int) -> None:
    turns = [float(turn % 7) for turn in range(30)]
    assert interval(turns, mean, seed) == interval(turns, mean, seed)
