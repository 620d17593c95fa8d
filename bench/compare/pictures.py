"""Which charts the report has: from the object of a comparison to what `charts` draws. Pure."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from bench.compare.charts import Axis, Chart, Series, drawn, log_axis, share_axis
from bench.compare.markup import Element, element

LEAST = 10  # drafted tokens at one position, for a share of them to say something
_MOST_POSITIONS = 12
_TIME = "keystroke_to_suggestion_p95_ms"

Result = Mapping[str, Any]


def whole(result: Result, done: Result) -> Element | None:
    """How keys to suggestions are distributed."""
    return _distribution("keystroke_to_suggestion_ms", result["limits_ms"]["whole"], done, "from key to suggestion")


def first_text(result: Result, done: Result) -> Element | None:
    """How times to first tokens are distributed."""
    return _distribution("ttft_ms", result["limits_ms"]["first_tokens"], done, "to the first text")


def quality_against_latency(result: Result, done: Result) -> Element | None:
    """One point a pair, p95 from key to suggestion across and edit similarity up."""
    series = []
    for name, pair in done.items():
        x, y = pair["figures"][_TIME], pair["figures"]["edit_similarity"]
        if x is not None and y is not None:
            spread = pair["intervals_95"]
            across, along = (tuple(spread[key]) if spread[key] else None for key in (_TIME, "edit_similarity"))
            series.append(Series(name, ((x, y),), dots=True, across=across, along=along))
    if not series:
        return None
    limit = result["limits_ms"]["whole"]
    times = [limit, *chain.from_iterable([one.points[0][0], *(one.across or ())] for one in series)]
    shares = list(chain.from_iterable([one.points[0][1], *(one.along or ())] for one in series))
    low, high = max(0.0, min(shares) - 0.02), min(1.0, max(shares) + 0.02)
    x_axis = log_axis("p95 from key to suggestion", times, "ms")
    chart = Chart(
        "Edit similarity of each pair against its p95 from key to suggestion",
        x_axis, share_axis("edit similarity", low, high), tuple(series), _limits(limit),
    )  # fmt: skip
    return drawn(chart)


def drafts(done: Result) -> Iterator[Element]:
    """For each pair that drafts one chart, with a curve for each drafter."""
    drafters = sorted({drafter for pair in done.values() for drafter in pair["acceptance"]})
    longest = max((len(_shares(c)) for pair in done.values() for c in pair["acceptance"].values()), default=0)
    ticks = tuple((float(n), str(n)) for n in range(1, longest + 1) if longest <= 6 or n % 2)
    x = Axis("position in the draft", 0.7, longest + 0.3, ticks)
    for name, pair in done.items():
        series = [Series(drafter, tuple(_shares(pair["acceptance"].get(drafter, [])))) for drafter in drafters]
        if any(one.points for one in series):
            dotted = tuple(Series(one.name, one.points, dots=True) for one in series)
            chart = Chart(f"Acceptance by position of {name}", x, share_axis("accepted"), dotted)
            yield element("div", element("h3", name), drawn(chart))


def _shares(counts: list[dict[str, int]]) -> list[tuple[float, float]]:
    return [
        (position, count["accepted"] / count["drafted"])
        for position, count in enumerate(counts[:_MOST_POSITIONS], 1)
        if count["drafted"] >= LEAST
    ]


def _distribution(key: str, limit: float, done: Result, what: str) -> Element | None:
    curves = {name: values for name, pair in done.items() if (values := pair["distributions"][key])}
    if not curves:
        return None
    times = [max(1.0, time) for time in (limit, *chain.from_iterable(curves.values()))]
    series = [
        Series(name, tuple((max(1.0, time), share / len(values)) for share, time in enumerate(values, 1)))
        for name, values in curves.items()
    ]
    chart = Chart(
        f"Share of keys against milliseconds {what}",
        log_axis(f"time {what}", times, "ms"), share_axis("share of keys"), tuple(series), _limits(limit),
    )  # fmt: skip
    return drawn(chart)


def _limits(limit: float) -> tuple[tuple[float, str], ...]:
    return ((limit, f"{limit:.0f} ms"),)
