"""Which pair is best, by a rule that is stated wherever its answer is. Pure.

Differences count where their 95 % interval, paired turn by turn, leaves out 0; where there is no interval nothing does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.compare.paired import LEAST, Interval

RULE = (
    "Of the pairs whose edit similarity is not below the highest, the one with the highest goodput; of those that "
    "cannot be told from it, the one with the lowest p95 from key to suggestion, and of those the one with the lowest "
    "p50. A difference counts where its 95 % interval, by bootstrap over places that all pairs shared, leaves out 0."
)

By = Literal["alone", "quality", "goodput", "latency", "nothing"]
Difference = Callable[[str, str, str], Interval | None]
"""Measure, pair, another pair: the interval of the figure of the one less that of the other."""

_FEW = f"of fewer than {LEAST} places, which is too few to tell"

_Figures = Mapping[str, Mapping[str, float | None]]

_QUALITY, _GOODPUT = "edit_similarity", "goodput"
_SLOW, _USUAL = "keystroke_to_suggestion_p95_ms", "keystroke_to_suggestion_p50_ms"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`pair` is None where nothing was measured by which one could be named. `by` is the step that settled it.

    With "nothing" the one that is named has only the lowest p50, by no more than chance gives.
    """

    pair: str | None
    by: By
    sentence: str


def best(figures: _Figures, difference: Difference) -> Verdict:
    """`figures` by pair, of those that could be measured, in any order."""
    names = list(figures)
    if len(names) < 2:
        if not names:
            return Verdict(None, "nothing", "No pair could be measured.")
        return Verdict(names[0], "alone", f"Only {names[0]} could be measured.")

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
    fast = leaders(_SLOW, timely, low=True)
    if len(fast) == 1:
        return Verdict(fast[0], "latency", _by_latency(figures, _SLOW, fast[0], timely))
    fast = leaders(_USUAL, fast, low=True)
    if len(fast) == 1:
        return Verdict(fast[0], "latency", _by_latency(figures, _USUAL, fast[0], timely))
    if figures[fast[0]].get(_USUAL) is None:
        return Verdict(None, "nothing", f"By the rule nothing that was measured separates {_and(sorted(fast))}.")
    known = any(difference(_USUAL, fast[0], name) is not None for name in fast[1:])
    return Verdict(fast[0], "nothing", _by_nothing(figures, fast, "by no more than chance gives" if known else _FEW))


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


def _by_latency(figures: _Figures, measure: str, name: str, timely: Sequence[str]) -> str:
    keys, share = ("slow keys", "p95") if measure == _SLOW else ("usual keys", "p50")
    return (
        f"{name} is best: {_and(sorted(timely))} suggest equally well and as often in time, but its {keys} are the "
        f"fastest ({share} from key to suggestion {_values(figures, measure, name, timely)})."
    )


def _by_nothing(figures: _Figures, fast: Sequence[str], how_sure: str) -> str:
    return (
        f"By the rule nothing separates {_and(sorted(fast))}: {fast[0]} has the lowest p50 from key to suggestion "
        f"({_values(figures, _USUAL, fast[0], fast)}), {how_sure}.{_behind(figures, fast)}"
    )


def _behind(figures: _Figures, fast: Sequence[str]) -> str:
    others = [name for name in figures if name not in fast]
    return f" {_and(sorted(others))} {'falls' if len(others) == 1 else 'fall'} behind." if others else ""


def _values(figures: _Figures, measure: str, first: str, names: Sequence[str]) -> str:
    """`81.2 % against 70.0 % of B and 65.0 % of C`."""

    def said(name: str) -> str:
        value = figures[name].get(measure)
        return "none" if value is None else f"{value:.0f} ms" if measure in (_SLOW, _USUAL) else f"{100 * value:.1f} %"

    return f"{said(first)} against {_and([f'{said(name)} of {name}' for name in names if name != first])}"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
