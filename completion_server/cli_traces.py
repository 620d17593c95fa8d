"""Traces of requests as bars in a terminal: one line each, all to one scale, the slowest stage by name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from completion_server.protocol import Stage, Trace

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_COLOURS = ("blue", "yellow", "green", "magenta", "cyan")


def table(traces: Sequence[Trace], width: int = 24) -> "Table":
    """`width` is that of the longest bar, in columns."""
    from rich.table import Table

    longest = max((trace.total_ms for trace in traces), default=0.0)
    found = Table(box=None, pad_edge=False)
    found.add_column("ago", justify="right", no_wrap=True, min_width=5)
    found.add_column("ms", justify="right", no_wrap=True, min_width=5)
    found.add_column("request")
    found.add_column("", no_wrap=True, min_width=width if traces else 0)
    found.add_column("slowest")
    for trace in traces:
        columns = [round(width * stage.ms / longest) for stage in trace.stages] if longest else []
        found.add_row(
            f"{trace.age_s:.0f} s",
            f"{trace.total_ms:.0f}",
            " ".join(word for word in (trace.client, trace.language, trace.outcome) if word),
            _bar(columns),
            slowest(trace.stages),
        )
    return found


def slowest(stages: Sequence[Stage]) -> str:
    """The stage that took longest, with its time; empty without stages."""
    if not stages:
        return ""
    stage = max(stages, key=lambda stage: stage.ms)
    return f"{stage.name} ({stage.ms:.0f} ms)"


def _bar(columns: Sequence[int]) -> "Text":
    from rich.text import Text

    bar = Text()
    for number, count in enumerate(columns):
        bar.append("█" * count, style=_COLOURS[number % len(_COLOURS)])
    return bar
