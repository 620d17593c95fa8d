"""The figures that pairs are compared by, each as a sum over turns, so that turns can be drawn again. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from bench.compare import paired
from bench.compare.measured import Measured
from bench.compare.paired import Interval
from bench.keystrokes import Keystroke
from bench.percentiles import percentile
from bench.report import in_time

_Values = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """`turns` are the values that each turn gives, `statistic` makes a figure of those of any number of turns."""

    turns: Callable[[Measured], Sequence[_Values]]
    statistic: Callable[[Sequence[_Values]], float | None]
    more_is_better: bool = True


def interval(measure: Measure, measured: Measured) -> Interval | None:
    """The 95 % interval of the figure."""
    return paired.interval(measure.turns(measured), measure.statistic)


def difference(measure: Measure, ours: Measured, theirs: Measured) -> Interval | None:
    """The 95 % interval of the figure of ours less that of theirs, over what both have done."""
    return paired.difference(measure.turns(ours), measure.turns(theirs), measure.statistic)


def _quotient(turns: Sequence[_Values]) -> float | None:
    whole = sum(turn[1] for turn in turns)
    return sum(turn[0] for turn in turns) / whole if whole else None


def _share(share: float) -> Callable[[Sequence[_Values]], float | None]:
    return lambda turns: percentile(list(chain.from_iterable(turns)), share)


def _of_keys(value: Callable[[Keystroke], float]) -> Callable[[Measured], Sequence[_Values]]:
    def turns(measured: Measured) -> Sequence[_Values]:
        return [tuple(value(key) for key in keys if key.by_engine) for keys in measured.typed]

    return turns


def _goodput(measured: Measured) -> Sequence[_Values]:
    shown = [[key for key in keys if key.text] for keys in measured.typed]
    return [(sum(map(in_time, keys)), len(keys)) for keys in shown]


def _speed(measured: Measured) -> Sequence[_Values]:
    return [(float(one.usage.completion_tokens), one.usage.e2e_ms / 1_000) for one in measured.decoded]


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "edit_similarity": Measure(
            lambda measured: [(sum(s.similarity for s in some), len(some)) for some in measured.judged], _quotient
        ),
        "exact_line": Measure(
            lambda measured: [(sum(s.exact for s in some), len(some)) for some in measured.judged], _quotient
        ),
        "goodput": Measure(_goodput, _quotient),
        "keystroke_to_suggestion_p50_ms": Measure(_of_keys(lambda key: key.key_ms), _share(0.5), more_is_better=False),
        "keystroke_to_suggestion_p95_ms": Measure(_of_keys(lambda key: key.key_ms), _share(0.95), more_is_better=False),
        "ttft_p95_ms": Measure(_of_keys(lambda key: float(key.trace["ttft_ms"])), _share(0.95), more_is_better=False),
        "tokens_per_s": Measure(_speed, _quotient),
    }
)
"""By the names that `figures` gives them."""
