"""The knee of curves that are made up so that it can be seen."""

import pytest

from bench.replay.knee import Knee, Point, knee, numbers


def curve(*points):
    return {2**number: Point(*point) for number, point in enumerate(points)}


def test_where_p95_doubles():
    found = knee(curve((60, 1.0), (70, 1.0), (120, 0.99), (130, 0.98)))
    assert found == Knee(4, True, "the knee is at 4: with 8 editors p95 is 2.2 times that of one")


def test_where_goodput_falls():
    found = knee(curve((60, 0.98), (70, 0.93), (90, 0.92)))
    assert found == Knee(2, True, "the knee is at 2: with 4 editors goodput falls by 6 points")


def test_what_comes_behind_the_knee_does_not_move_it():
    assert knee(curve((60, 1.0), (200, 0.5), (70, 1.0))).editors == 1


def test_a_curve_without_a_knee():
    assert knee(curve((60, 1.0), (60, 1.0))) == Knee(2, False, "no knee up to 2: each is answered about as one alone")


def test_where_nobody_was_answered():
    assert knee(curve((60, 1.0), (None, None))).editors == 1
    assert knee(curve((60, None), (60, None))).editors == 2


def test_a_curve_begins_with_one_editor():
    with pytest.raises(ValueError, match="one editor"):
        knee({2: Point(60, 1.0)})


@pytest.mark.parametrize(("most", "found"), [(1, [1]), (2, [1, 2]), (4, [1, 2, 4]), (6, [1, 2, 4, 6])])
def test_numbers(most, found):
    assert numbers(most) == found
