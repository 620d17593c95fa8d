"""Two pictures of one run: precision against how much is shown, and exact lines by kind of place beside the raw model.

Drawn in colours that are readable on white and on black, on no background of their own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_INK = "#808080"
_OURS, _RAW = "#2f81f7", "#d29922"


def draw(result: Mapping[str, Any], folder: Path) -> None:
    """Write quality-curve.svg and quality-kinds.svg."""
    for name, paint in (("curve", _curve), ("kinds", _kinds)):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        paint(axes, result)
        _plain(axes)
        with rc_context({"svg.hashsalt": "quality"}):  # the same names inside each time
            figure.savefig(folder / f"quality-{name}.svg", metadata={"Date": None})


def _curve(axes: Axes, result: Mapping[str, Any]) -> None:
    points = [point for point in result["curve"] if point["precision"] is not None]
    shown = [point["shown_rate"] for point in points]
    axes.plot(shown, [point["precision"] for point in points], color=_OURS, marker=".", label="of what is shown")
    axes.plot(shown, [point["exact_line"] for point in points], color=_RAW, marker=".", label="of all cursors")
    chosen = result["shown"] / result["n"]
    axes.plot([chosen], [result["precision"]], "o", color=_OURS, markersize=9)
    axes.annotate(
        f"min_confidence {result['min_confidence']:g}",
        (chosen, result["precision"]),
        textcoords="offset points",
        xytext=(8, 8),
        color=_INK,
    )
    axes.set(xlabel="share of cursors at which something is shown", ylabel="exact lines", xlim=(0, 1), ylim=(0, 1))


def _kinds(axes: Axes, result: Mapping[str, Any]) -> None:
    kinds = list(result["by_kind"])
    places = range(len(kinds))
    ours = [result["by_kind"][kind]["exact_line"] for kind in kinds]
    raw = [result["by_kind"][kind]["raw"]["exact_line"] for kind in kinds]
    axes.bar([place - 0.2 for place in places], ours, 0.4, color=_OURS, label="Foretype")
    axes.bar([place + 0.2 for place in places], raw, 0.4, color=_RAW, label="the model alone")
    axes.set_xticks(list(places), kinds)
    axes.set(ylabel="exact lines, of all cursors of a kind")


def _plain(axes: Axes) -> None:
    axes.patch.set_alpha(0)
    axes.tick_params(colors=_INK)
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(_INK)
    axes.grid(axis="y", color=_INK, alpha=0.25)
    axes.legend(frameon=False, labelcolor=_INK)
