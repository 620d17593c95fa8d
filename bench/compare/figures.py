"""From what was measured to figures by name: those of the table, of `--fail-if` and of the JSON. Pure.

The words are those of docs/numbers.md; times are milliseconds unless the name says otherwise. Latencies and tokens are
over keys that the engine answered; goodput is over keys that got a suggestion; `exact_line` and `edit_similarity` are
over all cursors, where nothing shown counts 0, and `precision`, `syntax_ok`, `repeats_suffix` over what was shown.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

from bench.compare.measured import Measured
from bench.compare.plan import PARTS, Part
from bench.percentiles import percentile, ratio, summary
from bench.quality import figures as quality
from bench.report import report

Figures = dict[str, float | None]

_PERCENTILES = ("p50", "p95", "p99")
_POINTS = 100  # of a distribution


def _spread(base: str) -> tuple[str, ...]:
    return tuple(f"{base}_{share}_ms" for share in _PERCENTILES)


_TYPED = (
    *("keystrokes", "shown", "answered_by_engine", "from_cache", "failed", "goodput"),
    *("cached_token_ratio", "draft_acceptance_rate", "acceptance_length"),
)
_TIMES = ("keystroke_to_suggestion", "ttft", "e2e")
_JUDGED = ("exact_line", "edit_similarity", "prefix_chars_mean", "precision", "syntax_ok", "repeats_suffix")
NAMES: dict[Part, tuple[str, ...]] = {
    "replay": (*_TYPED, "wasted_tokens", *chain.from_iterable(map(_spread, _TIMES))),
    "quality": ("cursors", "shown_at_cursors", *_JUDGED),
    "engine": ("tokens_per_s", "characters_per_s", *_spread("pass")),
}
ALWAYS = ("memory_mib", "load_s")


def names(parts: Collection[Part] = PARTS) -> list[str]:
    """Those of a run with these parts."""
    return [*chain.from_iterable(NAMES[part] for part in PARTS if part in parts), *ALWAYS]


def figures(measured: Measured) -> Figures:
    """All that have a name; None where nothing was measured."""
    found = {**_typed(measured), **_judged(measured), **_decoded(measured)}
    memory = measured.memory_bytes
    return {
        **{name: found.get(name) for name in names()},
        "memory_mib": None if memory is None else round(memory / 2**20, 1),
        "load_s": measured.load_s,
    }


def acceptance(measured: Measured) -> dict[str, list[dict[str, int]]]:
    """By drafter and then by position in the draft: how many tokens were drafted there, and how many of them taken."""
    totals: defaultdict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
    for keystroke in chain.from_iterable(measured.typed):
        for count in keystroke.trace["drafts"] if keystroke.by_engine else ():
            for kind in ("drafted", "accepted"):
                totals[count["drafter"]][count["position"], kind] += count[kind]
    return {
        drafter: [
            {kind: counts[position, kind] for kind in ("drafted", "accepted")}
            for position in range(1 + max(position for position, _ in counts))
        ]
        for drafter, counts in sorted(totals.items())
    }


def distributions(measured: Measured) -> dict[str, list[float]]:
    """The percentiles 1 to 100 of what is drawn as a curve; empty without keys."""
    keys = [key for key in chain.from_iterable(measured.typed) if key.by_engine]
    return {
        "keystroke_to_suggestion_ms": _curve([key.key_ms for key in keys]),
        "ttft_ms": _curve([key.trace["ttft_ms"] for key in keys]),
    }


def pass_ms_by_width(measured: Measured) -> dict[str, dict[str, float | None]]:
    """Time of a pass that gave tokens, with the drafting before it, by how many tokens were fed."""
    by_width: defaultdict[int, list[float]] = defaultdict(list)
    for decoded in measured.decoded:
        for taken in decoded.usage.rounds:
            by_width[taken.width].append(taken.ms)
    return {str(width): {"passes": len(times), **summary(times, (50,))} for width, times in sorted(by_width.items())}


def _curve(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    shares = range(1, _POINTS + 1) if ordered else ()
    return [round(percentile(ordered, share / _POINTS) or 0.0, 2) for share in shares]


def _typed(measured: Measured) -> Figures:
    if not measured.typed:
        return {}
    found = report(list(chain.from_iterable(measured.typed)))
    times = {name: _in_ms(name, found[f"{name}_ms"]) for name in _TIMES}
    return {
        **{name: found[name] for name in _TYPED},
        **{name: value for some in times.values() for name, value in some.items()},
        "wasted_tokens": measured.wasted_tokens,
    }


def _judged(measured: Measured) -> Figures:
    if not measured.judged:
        return {}
    found = quality.figures(list(chain.from_iterable(measured.judged)))
    return {"cursors": found["n"], "shown_at_cursors": found["shown"], **{name: found[name] for name in _JUDGED}}


def _decoded(measured: Measured) -> Figures:
    seconds = sum(decoded.usage.e2e_ms for decoded in measured.decoded) / 1_000
    if not seconds:
        return {}
    passes = [taken.ms for decoded in measured.decoded for taken in decoded.usage.rounds]
    return {
        "tokens_per_s": ratio(sum(decoded.usage.completion_tokens for decoded in measured.decoded), seconds),
        "characters_per_s": ratio(sum(decoded.characters for decoded in measured.decoded), seconds),
        **_in_ms("pass", summary(passes)),
    }


def _in_ms(base: str, values: dict[str, Any]) -> Figures:
    return {f"{base}_{share}_ms": values[share] for share in _PERCENTILES}
