"""From scores to the figures that are published. Pure; the keys are those of the design's section 9.

`exact_line`, `prefix_chars_mean` and `edit_similarity` are shares and means over all n cursors, where nothing shown
counts 0; `precision`, `syntax_ok` and `repeats_suffix` are shares of what was shown; `n` and `shown` are counts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from bench.percentiles import ratio, ratio_interval
from bench.quality.cursors import KINDS, Cursor
from bench.quality.scores import NOTHING, Score

_CURVE = 20  # points


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one cursor. `sure` is the confidence in what would be shown if nothing was hidden, `ours` that
    score, `raw` the one of the raw continuation."""

    cursor: Cursor
    ours: Score
    raw: Score
    sure: float

    def at(self, min_confidence: float) -> "Outcome":
        """The same, where suggestions of less confidence are hidden."""
        return self if self.sure >= min_confidence else replace(self, ours=NOTHING)


def figures(scores: Sequence[Score]) -> dict[str, Any]:
    """The keys that ours and raw both have."""
    shown = [score for score in scores if score.shown]
    return {
        "n": len(scores),
        "shown": len(shown),
        "exact_line": ratio(sum(score.exact for score in scores), len(scores)),
        "prefix_chars_mean": ratio(sum(score.prefix_chars for score in scores), len(scores)),
        "edit_similarity": ratio(sum(score.similarity for score in scores), len(scores)),
        "precision": ratio(sum(score.exact for score in shown), len(shown)),
        "syntax_ok": ratio(sum(bool(score.syntax_ok) for score in shown), len(shown)),
        "repeats_suffix": ratio(sum(bool(score.repeats) for score in shown), len(shown)),
    }


def report(outcomes: Sequence[Outcome], min_confidence: float) -> dict[str, Any]:
    """Everything that one run gives, with suggestions hidden whose confidence is below `min_confidence`."""
    chosen = [outcome.at(min_confidence) for outcome in outcomes]
    return {
        **_both(chosen),
        "interval_95": _intervals(chosen),
        "by_kind": {kind: _both(some) for kind in KINDS if (some := [o for o in chosen if o.cursor.kind == kind])},
        "by_language": {language: _both(some) for language, some in _groups(chosen, lambda o: o.cursor.language)},
        "min_confidence": min_confidence,
        "curve": curve(outcomes),
    }


def curve(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """What other thresholds would give: about evenly spaced in how much is shown, from everything down."""
    sure = sorted(outcome.sure for outcome in outcomes if outcome.ours.shown)
    steps = sorted({sure[index * len(sure) // _CURVE] for index in range(_CURVE)}) if sure else []
    points = []
    for threshold in [0.0, *steps[1:]]:
        found = figures([outcome.at(threshold).ours for outcome in outcomes])
        points.append(
            {
                "min_confidence": round(threshold, 4),
                "shown_rate": ratio(found["shown"], found["n"]),
                **{key: found[key] for key in ("precision", "exact_line", "edit_similarity")},
            }
        )
    return points


def _both(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    raw = figures([outcome.raw for outcome in outcomes])
    return {**figures([outcome.ours for outcome in outcomes]), "raw": raw}


def _intervals(outcomes: Sequence[Outcome]) -> dict[str, tuple[float, float] | None]:
    """95 % intervals, by bootstrap over files: cursors of one file are not independent."""
    measures: dict[str, Callable[[Outcome], tuple[float, float]]] = {
        "shown": lambda o: (o.ours.shown, 1),
        "exact_line": lambda o: (o.ours.exact, 1),
        "edit_similarity": lambda o: (o.ours.similarity, 1),
        "precision": lambda o: (o.ours.exact, o.ours.shown),
        "syntax_ok": lambda o: (bool(o.ours.syntax_ok), o.ours.shown),
        "exact_line_to_raw": lambda o: (o.ours.exact, o.raw.exact),
        "edit_similarity_to_raw": lambda o: (o.ours.similarity, o.raw.similarity),
    }
    files = [list(some) for _, some in _groups(outcomes, lambda o: str(o.cursor.path))]
    return {name: _interval([list(map(measure, some)) for some in files]) for name, measure in measures.items()}


def _interval(files: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float] | None:
    pairs = [(sum(first for first, _ in some), sum(second for _, second in some)) for some in files]
    try:
        return ratio_interval(pairs)
    except (ValueError, ZeroDivisionError):  # nothing to divide by in one of the draws
        return None


def _groups(outcomes: Iterable[Outcome], key: Callable[[Outcome], str]) -> list[tuple[str, list[Outcome]]]:
    return [(name, list(some)) for name, some in groupby(sorted(outcomes, key=key), key=key)]
