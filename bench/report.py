"""From keystrokes to the numbers that are published. Pure; the words are those of the design's section 8."""

from collections.abc import Sequence
from typing import Any

from bench.keystrokes import Keystroke
from bench.limits import Limits
from bench.percentiles import ratio, summary

LIMITS = Limits()
FIRST_TOKENS_MS, WHOLE_LINE_MS = LIMITS.first_ms, LIMITS.whole_ms


def report(keystrokes: Sequence[Keystroke], limits: Limits = LIMITS) -> dict[str, Any]:
    """The figures of one replay.

    Latencies, token counts and `cached_token_ratio` are over keys that the engine answered; `from_cache` counts those
    answered by typing through. Goodput runs from the key, over keys that got a suggestion.
    """
    answered = [key for key in keystrokes if key.by_engine]
    shown = [key for key in keystrokes if key.text]
    cached, computed = _total(answered, "cached_tokens"), _total(answered, "computed_tokens")
    drafted, accepted = _total(answered, "drafted_tokens"), _total(answered, "accepted_tokens")
    rounds = _total(answered, "target_passes") - _total(answered, "prefill_passes")
    return {
        "keystrokes": len(keystrokes),
        "shown": len(shown),
        "answered_by_engine": len(answered),
        "from_cache": sum(key.outcome == "from-cache" for key in keystrokes),
        "failed": sum(key.failed for key in keystrokes),
        "keystroke_to_suggestion_ms": summary([key.key_ms for key in answered]),
        "ttft_ms": summary([key.trace["ttft_ms"] for key in answered]),
        "e2e_ms": summary([key.trace["e2e_ms"] for key in answered]),
        "goodput": ratio(sum(in_time(key, limits) for key in shown), len(shown)),
        "cached_token_ratio": ratio(cached, cached + computed),
        "computed_tokens_per_key": summary([key.trace["computed_tokens"] for key in answered], (50, 95)),
        "drafted_tokens": drafted,
        "draft_acceptance_rate": ratio(accepted, drafted),
        "acceptance_length": round(1 + accepted / rounds, 4) if rounds else None,
    }


def in_time(key: Keystroke, limits: Limits = LIMITS) -> bool:
    """Whether a suggestion met the limits of goodput, both counted from the key."""
    return limits.met(key.first_ms, key.key_ms)


def differing_keys(one: Sequence[Keystroke], other: Sequence[Keystroke]) -> int:
    """Keys at which two runs over the same keys showed different text."""
    pairs = zip(one, other, strict=True)
    return sum(a.text != b.text for a, b in pairs)


def _total(keystrokes: Sequence[Keystroke], field: str) -> int:
    return sum(int(key.trace[field]) for key in keystrokes)
