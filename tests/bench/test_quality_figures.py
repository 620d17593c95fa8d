"""The published figures from a handful of scores, by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.quality.cursors import Cursor
from bench.quality.figures import Outcome, Suggested, curve, figures, report
from bench.quality.scores import NOTHING, Score

GOOD = Score(shown=True, exact=True, prefix_chars=10, similarity=1.0, syntax_ok=True, repeats=False)
BAD = Score(shown=True, exact=False, prefix_chars=2, similarity=0.5, syntax_ok=False, repeats=True)


def outcome(ours: Score, raw: Score, confidence: float, kind="dot", path="a.py", without=None) -> Outcome:
    cursor = Cursor(Path(path), "python", kind, "x.", "y", "\n")
    return Outcome(cursor, Suggested("y", confidence, ours), raw, None, without or {})


FOUR = [
    outcome(GOOD, GOOD, 0.9),
    outcome(GOOD, BAD, 0.6, "word"),
    outcome(BAD, BAD, 0.3, "word", "b.py"),
    outcome(NOTHING, BAD, 0.0, path="b.py"),
]


def test_means_are_over_all_cursors_and_faults_over_what_was_shown() -> None:
    assert figures([GOOD, GOOD, BAD, NOTHING]) == {
        "n": 4,
        "shown": 3,
        "exact_line": 0.5,
        "prefix_chars_mean": 5.5,
        "edit_similarity": 0.625,
        "precision": 0.6667,
        "syntax_ok": 0.6667,
        "repeats_suffix": 0.3333,
    }


def test_without_anything_shown_there_are_no_shares_of_it() -> None:
    found = figures([NOTHING])
    assert (found["shown"], found["exact_line"], found["edit_similarity"]) == (0, 0.0, 0.0)
    assert (found["precision"], found["syntax_ok"], found["repeats_suffix"]) == (None, None, None)


def test_a_report_hides_what_is_below_the_threshold_and_leaves_raw_alone() -> None:
    everything, sure = report(FOUR, 0.0), report(FOUR, 0.5)
    assert (everything["shown"], everything["exact_line"], everything["repeats_suffix"]) == (3, 0.5, 0.3333)
    assert (sure["shown"], sure["exact_line"], sure["precision"], sure["repeats_suffix"]) == (2, 0.5, 1.0, 0.0)
    assert everything["raw"] == sure["raw"] == figures([GOOD, BAD, BAD, BAD])
    assert sure["min_confidence"] == 0.5
    assert report(FOUR, 0.6)["shown"] == 2  # as sure as it must be


def test_kinds_and_languages_add_up() -> None:
    found = report(FOUR, 0.0)
    assert found["by_kind"].keys() == {"dot", "word"}
    assert found["by_kind"]["word"]["exact_line"] == 0.5
    assert found["by_kind"]["word"]["raw"]["exact_line"] == 0.0
    assert sum(some["n"] for some in found["by_kind"].values()) == found["n"]
    assert found["by_language"]["python"]["n"] == 4


def test_the_curve_goes_from_everything_to_the_surest() -> None:
    points = curve([one.ours for one in FOUR])
    assert [point["shown_rate"] for point in points] == [0.75, 0.75, 0.5, 0.25]
    assert [point["precision"] for point in points] == [0.6667, 0.6667, 1.0, 1.0]
    assert points[0]["min_confidence"] == 0.0
    for point in points:
        assert report(FOUR, point["min_confidence"])["precision"] == point["precision"]
    assert curve([])[0]["shown_rate"] is None


def test_intervals_are_over_files_and_hold_the_figure() -> None:
    interval = report(FOUR * 3, 0.0)["interval_95"]
    assert interval["exact_line"] == (0.0, 1.0)  # one file is all right, the other all wrong
    low, high = interval["edit_similarity"]
    assert low <= 0.625 <= high
    assert interval["exact_line_to_raw"] is None  # a draw without any right raw line
    assert report([outcome(GOOD, BAD, 0.9)] * 4, 0.0)["interval_95"]["exact_line"] == (1.0, 1.0)


def test_parts_switched_off_have_the_same_figures_and_their_own_confidence() -> None:
    off = Suggested("y", 0.2, GOOD)
    some = [replace(one, without={"trim": one.ours, "healing": off}) for one in FOUR]
    found = report(some, 0.5)["without"]
    assert found.keys() == {"confidence", "trim", "healing"}
    assert found["confidence"]["shown"] == 3
    assert found["trim"]["shown"] == 2
    assert found["healing"]["shown"] == 0
    assert report(some, 0.1)["without"]["healing"]["exact_line_by_kind"]["word"] == 1.0
    assert found["trim"]["exact_line_by_kind"]["word"] == pytest.approx(0.5)
