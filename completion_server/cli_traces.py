"""Traces of requests as bars in a terminal: one line each, all to one scale, what took longest by name.

A bar shows who had the request: each part of the way has its own shade, so that it can be read without colours too.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from completion_server.protocol import Stage, Trace

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_EDITOR, _WAY, _SERVER = ("▒", "magenta"), ("░", "white"), ("▓", "cyan")
_QUEUE, _PROMPT, _ROUNDS = ("█", "yellow"), ("█", "blue"), (("█", "green"), ("█", "bright_green"))
_SHADES = {
    "key": _EDITOR,
    "painted": _EDITOR,
    "way to the server": _WAY,
    "way to the engine": _WAY,
    "sent": _SERVER,
    "trimmed": _SERVER,
    "returned": _SERVER,
    "queued": _QUEUE,
    "tokenized": _PROMPT,
    "prefix matched": _PROMPT,
    "prefill": _PROMPT,
}
_LEGEND = (
    ("editor", _EDITOR),
    ("way", _WAY),
    ("server", _SERVER),
    ("queue", _QUEUE),
    ("prompt", _PROMPT),
    ("rounds", _ROUNDS[0]),
)
_WORDS = {"client": "cancelled"}  # who cancelled it says the outcome, which is a language server nearly always
_BESIDE = 70  # columns that all but the bar would like to have
_SHORTEST, _LONGEST = 10, 64  # columns of the longest bar


def shown(traces: Sequence[Trace], width: int) -> "RenderableType":
    """A table of `traces` with a legend, for a terminal `width` columns wide."""
    from rich.console import Group

    return Group(table(traces, max(_SHORTEST, min(width - _BESIDE, _LONGEST))), _legend())


def table(traces: Sequence[Trace], width: int = 24) -> "Table":
    """`width` is that of the longest bar, in columns."""
    from rich.table import Table

    longest = max((trace.total_ms for trace in traces), default=0.0)
    found = Table(box=None, pad_edge=False)
    found.add_column("ago", justify="right", no_wrap=True, min_width=5)
    found.add_column("ms", justify="right", no_wrap=True, min_width=4)
    found.add_column("shown", justify="right", no_wrap=True, min_width=5)
    found.add_column("request")
    found.add_column("", no_wrap=True, min_width=width if traces else 0)
    found.add_column("slowest", max_width=22)
    for trace in traces:
        found.add_row(
            f"{trace.age_s:.0f} s",
            f"{trace.total_ms:.0f}",
            f"{trace.shown_ms:.0f}" if trace.shown_ms else "",
            " ".join(word for word in (trace.client, trace.language, _WORDS.get(trace.outcome, trace.outcome)) if word),
            _bar(trace.stages, width / longest if longest else 0.0),
            slowest(trace.stages),
        )
    return found


def slowest(stages: Sequence[Stage]) -> str:
    """What took longest, with its time; empty without stages. All rounds count as one: fifty short ones are what a long
    suggestion waits for, however short each was. What each was like is left to `--json`.
    """
    rounds = [stage.ms for stage in stages if stage.name.startswith("round ")]
    name = "1 round" if len(rounds) == 1 else f"{len(rounds)} rounds"
    parts = [(sum(rounds), name), *((stage.ms, stage.name) for stage in stages if not stage.name.startswith("round "))]
    ms, name = max(parts)
    return f"{name} ({ms:.0f} ms)" if stages else ""


def _bar(stages: Sequence[Stage], columns_per_ms: float) -> "Text":
    """Each stage ends at its own place: what is too short for a column does not push the others."""
    from rich.text import Text

    bar, until, rounds = Text(), 0.0, 0
    for stage in stages:
        until += stage.ms * columns_per_ms
        shade, colour = _SHADES.get(stage.name, _ROUNDS[rounds % len(_ROUNDS)])
        rounds += stage.name not in _SHADES
        bar.append(shade * (round(until) - len(bar)), style=colour)
    return bar


def _legend() -> "Text":
    from rich.text import Text

    return Text("  ").join(Text.assemble((shade, colour), f" {part}") for part, (shade, colour) in _LEGEND)
