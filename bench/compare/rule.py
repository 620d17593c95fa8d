"""Which pair is best, by a rule that is stated wherever its answer is. Pure.

Differences count where their 95 % interval, paired turn by turn, leaves out 0; where there is no interval nothing does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.compare.paired import Interval

RULE = (
    "Of the pairs whose edit similarity is not below the highest, the one with the highest goodput; of those that "
    "cannot be told from it, the one with the lowest p95 from key to suggestion. A difference counts where its 95 % "
    "interval, by bootstrap over places that all pairs shared, leaves out 0."
)

By = Literal["alone", "quality", "goodput", "latency", "nothing"]
Difference = Callable[[str, str, str], Interval | None]
"""Measure, pair, another pair: the interval of the figure of the one less that of the other."""

_Figures = Mapping[str, Mapping[str, float | None]]

_QUALITY, _GOODPUT, _LATENCY = "edit_similarity", "goodput", "keystroke_to_suggestion_p95_ms"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`pair` is None where nothing was measured by which one could be named. `by` is the step that settled it.

    With "nothing" the one that is named has only the lowest p95, by no more than chance gives.
    """

    pair: str | None
    by: By
    sentence: str


def best(figures: _Figures, difference: Difference) -> Verdict:
    """`figures` by pair, of those that could be measured, in any order."""
    names = list(figures)
    if len(names) < 2:
        only = names[0] if names else None
        return Verdict(only, "alone", f"Only {only} could be measured." if only else "No pair could be measured.")

    def leaders(measure: str, among: Sequence[str], *, low: bool = False) -> list[str]:
        """The one with the best figure, and behind it all that cannot be told from it."""
        known = {name: value for name in among if (value := figures[name].get(measure)) is not None}
        if not known:
            return list(among)
        first = min(known, key=lambda name: known[name] if low else -known[name])
        return [first, *(name for name in among if name != first and not _apart(difference(measure, first, name)))]

    good = leaders(_QUALITY, names)
    if len(good) == 1:
        return Verdict(good[0], "quality", _by_quality(figures, good[0], names))
    timely = leaders(_GOODPUT, good)
    if len(timely) == 1:
        return Verdict(timely[0], "goodput", _by_goodput(figures, timely[0], good, names))
    fast = leaders(_LATENCY, timely, low=True)
    if len(fast) == 1:
        return Verdict(fast[0], "latency", _by_latency(figures, fast[0], timely))
    if figures[fast[0]].get(_LATENCY) is None:
        return Verdict(None, "nothing", f"By the rule nothing that was measured separates {_and(sorted(fast))}.")
    return Verdict(fast[0], "nothing", _by_nothing(figures, fast))


def _apart(interval: Interval | None) -> bool:
    return interval is not None and not interval[0] <= 0 <= interval[1]


def _by_quality(figures: _Figures, name: str, names: Sequence[str]) -> str:
    return (
        f"{name} is best: its suggestions are nearest to what was written "
        f"(edit similarity {_values(figures, _QUALITY, name, names)})."
    )


def _by_goodput(figures: _Figures, name: str, good: Sequence[str], names: Sequence[str]) -> str:
    like = "all suggest equally well" if len(good) == len(names) else f"{_and(sorted(good))} suggest equally well"
    return (
        f"{name} is best: {like}, and its suggestions are in time most often "
        f"(goodput {_values(figures, _GOODPUT, name, good)})."
    )


def _by_latency(figures: _Figures, name: str, timely: Sequence[str]) -> str:
    return (
        f"{name} is best: {_and(sorted(timely))} suggest equally well and as often in time, but its slow keys are the "
        f"fastest (p95 from key to suggestion {_values(figures, _LATENCY, name, timely)})."
    )


def _by_nothing(figures: _Figures, fast: Sequence[str]) -> str:
    return (
        f"By the rule nothing separates {_and(sorted(fast))}: {fast[0]} has the lowest p95 from key to suggestion "
        f"({_values(figures, _LATENCY, fast[0], fast)}), by no more than chance gives."
    )


def _values(figures: _Figures, measure: str, first: str, names: Sequence[str]) -> str:
    """`81.2 % against 70.0 % of B and 65.0 % of C`."""

    def said(name: str) -> str:
        value = figures[name].get(measure)
        return "none" if value is None else f"{value:.0f} ms" if measure == _LATENCY else f"{100 * value:.1f} %"

    return f"{said(first)} against {_and([f'{said(name)} of {name}' for name in names if name != first])}"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
