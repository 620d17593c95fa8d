"""Curves and points as SVG, in the classes and colours of the dashboard. Values in, elements out.

Without a script nothing can be drawn to the width of a screen, so every chart is drawn twice, and the page's style
shows the one whose text has a readable size.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.compare.markup import Element, element, filled

COLOURS = 4  # of the dashboard; lines of further series are dashed
_WIDTHS = {"narrow": 330, "wide": 560}
_HEIGHT = 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 10, 38
_Point = tuple[float, float]
_Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Axis:
    """`ticks` are values with what is written beside them; `log` axes begin above 0."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """`across` and `along` are the intervals of a single point, in x and in y."""

    name: str
    points: tuple[_Point, ...]
    dots: bool = False
    across: tuple[float, float] | None = None
    along: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """`limits` are values of x with their names, drawn as lines."""

    label: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    limits: tuple[tuple[float, str], ...] = ()


def drawn(chart: Chart) -> Element:
    """The chart in both widths, with its legend."""
    sizes = [_svg(chart, width, name) for name, width in _WIDTHS.items()]
    names = (element("span", one.name, class_=_style(n)) for n, one in enumerate(chart.series) if one.points)
    return element("div", *sizes, element("div", *names, class_="legend"), class_="chart")


def log_axis(title: str, values: Sequence[float], unit: str) -> Axis:
    """From the 1, 2 or 5 below all `values`, which are above 0, to the one above them."""
    steps = [factor * 10.0**power for power in range(-1, 6) for factor in (1, 2, 5)]
    low = max((step for step in steps if step <= min(values)), default=steps[0])
    high = min((step for step in steps if step >= max(values)), default=steps[-1])
    between = [step for step in steps if low <= step <= high]
    shown = between if len(between) < 8 else [step for step in between if f"{step:g}".lstrip("0.")[0] == "1"]
    return Axis(title, low, max(high, 2 * low), tuple((step, _amount(step, unit)) for step in shown), log=True)


def share_axis(title: str, low: float = 0.0, high: float = 1.0) -> Axis:
    """In per cent, with whole steps between `low` and `high`, which are shares."""
    span = high - low
    step = next((step for step in (0.01, 0.02, 0.05, 0.1, 0.25) if span / step <= 5), 0.25)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple((n * step, f"{100 * n * step:.0f} %") for n in range(first, last + 1))
    return Axis(title, first * step, last * step, ticks)


def _amount(value: float, unit: str) -> str:
    return f"{value / 1_000:g} s" if unit == "ms" and value >= 1_000 else f"{value:g} {unit}"


def _svg(chart: Chart, width: int, size: str) -> Element:
    right, bottom = width - _RIGHT, _HEIGHT - _BOTTOM
    x, y = _scale(chart.x, _LEFT, right), _scale(chart.y, bottom, _TOP)
    root = element("svg", viewBox=f"0 0 {width} {_HEIGHT}", role="img", aria_label=chart.label, class_=size)
    for value, name in chart.y.ticks:
        filled(root, [_line(_LEFT, y(value), right, y(value), "axis"), _text(_LEFT - 6, y(value) + 4, name, "end")])
    for value, name in chart.x.ticks:
        filled(root, [_text(x(value), bottom + 16, name, "middle")])
    filled(root, [_text(right, _HEIGHT - 5, chart.x.title, "end")])
    for number, (value, name) in enumerate(chart.limits):
        filled(root, [_line(x(value), _TOP, x(value), bottom, "limit")])
        filled(root, [_text(x(value) + 4, bottom - 6 - 14 * number, name, "start", "limit-name")])
    for number, series in enumerate(chart.series):
        filled(root, [element("g", *_marks(series, x, y), class_=_style(number))])
    return root


def _marks(series: Series, x: _Scale, y: _Scale) -> Iterator[Element]:
    places = [(round(x(a), 1), round(y(b), 1)) for a, b in series.points]
    if len(places) > 1:
        yield element("polyline", class_="curve", points=" ".join(f"{a},{b}" for a, b in places))
    if series.dots:
        for (a, b), (across, along) in zip(places, [(series.across, series.along)] * len(places), strict=True):
            if across:
                yield _line(x(across[0]), b, x(across[1]), b, "reach-line")
            if along:
                yield _line(a, y(along[0]), a, y(along[1]), "reach-line")
            yield element("circle", class_="dot", cx=a, cy=b, r=4.5 if len(places) == 1 else 3)


def _scale(axis: Axis, low: float, high: float) -> _Scale:
    def shape(value: float) -> float:
        return math.log10(value) if axis.log else value

    begin, span = shape(axis.low), (shape(axis.high) - shape(axis.low)) or 1.0
    return lambda value: low + (shape(min(max(value, axis.low), axis.high)) - begin) / span * (high - low)


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Element:
    places = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return element("line", class_=class_, **{name: round(value, 1) for name, value in places.items()})


def _text(x: float, y: float, text: str, anchor: str, class_: str | None = None) -> Element:
    return element("text", text, x=round(x, 1), y=round(y, 1), text_anchor=anchor, class_=class_)


def _style(number: int) -> str:
    return f"s{number % COLOURS}{' dashed' if number >= COLOURS else ''}"
