"""The best pair by the stated rule, on made-up figures."""

import pytest

from bench.compare.paired import Interval
from bench.compare.rule import best

QUALITY, GOODPUT = "edit_similarity", "goodput"
SLOW, USUAL = "keystroke_to_suggestion_p95_ms", "keystroke_to_suggestion_p50_ms"
TIE, APART = (-0.1, 0.1), (0.05, 0.15)


def figures(similarity: float | None, goodput: float | None, slow: float | None) -> dict[str, float | None]:
    """The usual key takes a tenth of a slow one."""
    return {QUALITY: similarity, GOODPUT: goodput, SLOW: slow, USUAL: None if slow is None else slow / 10}


def intervals(**by_measure: Interval | None):
    """The same interval for every two pairs."""
    return lambda measure, *_: by_measure.get(measure)


def test_a_clear_winner_by_goodput() -> None:
    values = {"a": figures(0.5, 0.7, 300), "b": figures(0.5, 0.9, 400), "c": figures(0.49, 0.6, 200)}
    found = best(values, intervals(edit_similarity=TIE, goodput=APART))
    assert (found.pair, found.by) == ("b", "goodput")
    assert "90.0 % against 70.0 % of a and 60.0 % of c" in found.sentence


def test_quality_comes_before_speed() -> None:
    values = {"fast": figures(0.3, 1.0, 50), "good": figures(0.6, 0.5, 900)}
    found = best(values, intervals(edit_similarity=APART, goodput=APART))
    assert (found.pair, found.by) == ("good", "quality")
    assert "60.0 % against 30.0 % of fast" in found.sentence


def test_who_loses_by_quality_cannot_win_by_goodput() -> None:
    values = {"a": figures(0.6, 0.5, 300), "b": figures(0.59, 0.7, 300), "poor": figures(0.2, 1.0, 10)}

    def difference(measure: str, ours: str, theirs: str) -> Interval:
        return TIE if measure == QUALITY and "poor" not in (ours, theirs) else APART

    found = best(values, difference)
    assert (found.pair, found.by) == ("b", "goodput")
    assert "a and b suggest equally well" in found.sentence
    assert "poor" not in found.sentence


def test_a_tie_goes_to_the_faster_slow_keys() -> None:
    values = {"a": figures(0.5, 0.80, 900), "b": figures(0.5, 0.79, 500)}
    found = best(values, intervals(edit_similarity=TIE, goodput=TIE, keystroke_to_suggestion_p95_ms=(-450.0, -350.0)))
    assert (found.pair, found.by) == ("b", "latency")
    assert "500 ms against 900 ms of a" in found.sentence


def test_where_nothing_separates_them_it_is_said() -> None:
    values = {"a": figures(0.5, 0.8, 510), "b": figures(0.5, 0.8, 500)}
    found = best(values, intervals(edit_similarity=TIE, goodput=TIE, keystroke_to_suggestion_p95_ms=TIE))
    assert (found.pair, found.by) == ("b", "nothing")
    assert found.sentence.startswith("By the rule nothing separates a and b: b has the lowest p50")
    assert "50 ms against 51 ms of a" in found.sentence


def test_where_slow_keys_say_nothing_usual_ones_may() -> None:
    values = {"a": figures(0.5, 0.8, 510), "b": figures(0.5, 0.8, 500), "c": figures(0.5, 0.8, 900)}

    def difference(measure: str, ours: str, theirs: str) -> Interval:
        return APART if measure == USUAL and "c" in (ours, theirs) else TIE

    found = best(values, difference)
    assert (found.pair, found.by) == ("b", "nothing")
    assert "nothing separates a and b" in found.sentence
    assert found.sentence.endswith("c falls behind.")
    del values["a"]
    found = best(values, difference)
    assert (found.pair, found.by) == ("b", "latency")
    assert "its usual keys are the fastest (p50 from key to suggestion 50 ms against 90 ms of c)" in found.sentence


def test_without_intervals_nothing_separates_them() -> None:
    values = {"a": figures(0.9, 0.9, 10), "b": figures(0.1, 0.1, 500)}
    found = best(values, intervals())
    assert found.by == "nothing"
    assert "fewer than 5 places, which is too few to tell" in found.sentence
    assert "chance" not in found.sentence


def test_without_typing_quality_alone_decides() -> None:
    values = {"a": figures(0.5, None, None), "b": figures(0.6, None, None)}
    assert best(values, intervals(edit_similarity=APART)).pair == "b"
    undecided = best(values, intervals(edit_similarity=TIE))
    assert (undecided.pair, undecided.by) == (None, "nothing")


@pytest.mark.parametrize(("names", "pair", "by"), [(("a",), "a", "alone"), ((), None, "nothing")])
def test_one_or_none(names: tuple[str, ...], pair: str | None, by: str) -> None:
    found = best({name: figures(0.5, 0.5, 5) for name in names}, intervals())
    assert (found.pair, found.by) == (pair, by)
