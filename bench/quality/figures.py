"""From scores to the figures that are published. Pure; the keys are those of the design's section 9.

`exact_line`, `prefix_chars_mean` and `edit_similarity` are shares and means over all n cursors, where nothing shown
counts 0; `precision`, `syntax_ok` and `repeats_suffix` are shares of what was shown; `n` and `shown` are counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from bench.percentiles import ratio, ratio_interval
from bench.quality.cursors import KINDS, Cursor
from bench.quality.scores import NOTHING, Score
from completion_server.protocol import Result

_CURVE = 20  # points


@dataclass(frozen=True, slots=True)
class Suggested:
    """A suggestion if none is hidden, with the server's confidence in it."""

    text: str
    confidence: float
    score: Score

    def at(self, min_confidence: float) -> Score:
        """Its score where those of less confidence are hidden."""
        return self.score if self.confidence >= min_confidence else NOTHING


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one cursor: our suggestion, and the score of the raw continuation.

    `said` is what the engine said, where it was asked for that; `without`, by name, what came with a part switched off.
    """

    cursor: Cursor
    ours: Suggested
    raw: Score
    said: Result | None = None
    without: dict[str, Suggested] = field(default_factory=dict)


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
    pairs = [_Pair(outcome.cursor, outcome.ours.at(min_confidence), outcome.raw) for outcome in outcomes]
    return {
        **_both(pairs),
        "interval_95": _intervals(pairs),
        "by_kind": {kind: _both(some) for kind in KINDS if (some := [p for p in pairs if p.cursor.kind == kind])},
        "by_language": _groups(pairs, lambda pair: pair.cursor.language),
        "min_confidence": min_confidence,
        "curve": curve([outcome.ours for outcome in outcomes]),
        "without": _without(outcomes, min_confidence),
    }


def curve(suggested: Sequence[Suggested]) -> list[dict[str, Any]]:
    """What other thresholds would give: about evenly spaced in how much is shown, from everything down."""
    sure = sorted(one.confidence for one in suggested if one.score.shown)
    steps = sorted({sure[index * len(sure) // _CURVE] for index in range(1, _CURVE)}) if sure else []
    points = []
    for threshold in [0.0, *steps]:
        found = figures([one.at(threshold) for one in suggested])
        kept = {key: found[key] for key in ("precision", "exact_line", "edit_similarity")}
        points.append({"min_confidence": threshold, "shown_rate": ratio(found["shown"], found["n"]), **kept})
    return points


@dataclass(frozen=True, slots=True)
class _Pair:
    cursor: Cursor
    ours: Score
    raw: Score


def _both(pairs: Sequence[_Pair]) -> dict[str, Any]:
    return {**figures([pair.ours for pair in pairs]), "raw": figures([pair.raw for pair in pairs])}


def _groups(pairs: Iterable[_Pair], key: Callable[[_Pair], str]) -> dict[str, dict[str, Any]]:
    return {name: _both(list(some)) for name, some in groupby(sorted(pairs, key=key), key=key)}


def _intervals(pairs: Iterable[_Pair]) -> dict[str, tuple[float, float] | None]:
    """95 % intervals, by bootstrap over files: cursors of one file are not independent."""
    measures: dict[str, Callable[[_Pair], tuple[float, float]]] = {
        "shown": lambda pair: (pair.ours.shown, 1),
        "exact_line": lambda pair: (pair.ours.exact, 1),
        "edit_similarity": lambda pair: (pair.ours.similarity, 1),
        "precision": lambda pair: (pair.ours.exact, pair.ours.shown),
        "syntax_ok": lambda pair: (bool(pair.ours.syntax_ok), pair.ours.shown),
        "exact_line_to_raw": lambda pair: (pair.ours.exact, pair.raw.exact),
        "edit_similarity_to_raw": lambda pair: (pair.ours.similarity, pair.raw.similarity),
    }

    def of(pair: _Pair) -> str:
        return str(pair.cursor.path)

    files = [list(some) for _, some in groupby(sorted(pairs, key=of), key=of)]
    return {name: _interval([list(map(measure, some)) for some in files]) for name, measure in measures.items()}


def _interval(files: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float] | None:
    sums = [(sum(first for first, _ in some), sum(second for _, second in some)) for some in files]
    try:
        return ratio_interval(sums)
    except (ValueError, ZeroDivisionError):  # nothing to divide by in one of the draws
        return None


def _without(outcomes: Sequence[Outcome], min_confidence: float) -> dict[str, dict[str, Any]]:
    """The figures with one part switched off, and by kind how many lines are exact then; `confidence` hides nothing."""
    done = [outcome for outcome in outcomes if outcome.without]
    parts = {"confidence": [(outcome.cursor, outcome.ours.score) for outcome in outcomes]}
    for name in sorted({name for outcome in done for name in outcome.without}):
        some = [outcome for outcome in done if name in outcome.without]
        parts[name] = [(outcome.cursor, outcome.without[name].at(min_confidence)) for outcome in some]
    return {
        name: {**figures([s for _, s in part]), "exact_line_by_kind": _by_kind(part)} for name, part in parts.items()
    }


def _by_kind(part: Sequence[tuple[Cursor, Score]]) -> Mapping[str, float | None]:
    return {kind: figures([s for cursor, s in part if cursor.kind == kind])["exact_line"] for kind in KINDS}
