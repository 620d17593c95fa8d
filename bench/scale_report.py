"""From the keys of `bench.scale` to what is published: percentiles for each size, ratios beside their bars. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.keystrokes import Keystroke
from bench.percentiles import median, ratio, summary

BARS = {"file_lines": 1.2, "context_tokens": 2.0, "editors": 2.5, "cold_beside_warm": 1.0}
"""The most that a ratio may be: the dearest length of file ÷ the cheapest, the longest context ÷ the shortest (both of
p50), the p95 of the slowest of all editors ÷ that of one alone, and the delay of a first token in chunks."""

TOLERANCE = 0.1  # of a prompt's length, beside the one that was asked for

Keys = Sequence[Keystroke]


@dataclass(frozen=True, slots=True)
class Beside:
    """Each key typed alone, and the same one while a cold prompt of another editor was fed. `cold`: prompts alone."""

    pairs: Sequence[tuple[Keystroke, Keystroke]]
    cold: Keys


def figures(keys: Keys) -> dict[str, Any]:
    """Of the keys that the engine answered."""
    answered = [key for key in keys if key.by_engine]
    return {
        "keystroke_to_suggestion_ms": summary([key.key_ms for key in answered]),
        "ttft_ms": _of(answered, "ttft_ms"),
        "keys": len(answered),
        "failed": sum(key.failed for key in keys),
        "prompt_tokens": median([key.trace["prompt_tokens"] for key in answered]),
        "computed_tokens": median([key.trace["computed_tokens"] for key in answered]),
    }


def by_size(found: Mapping[str, Keys]) -> dict[str, Any]:
    return {size: figures(keys) for size, keys in found.items()}


def by_editors(found: Mapping[str, Sequence[Keys]]) -> dict[str, Any]:
    """The keys of all editors together, and the p95 of each."""
    return {
        size: {**figures(_flat(each)), "p95_of_each": [_p95(keys) for keys in each]} for size, each in found.items()
    }


def reached(found: Mapping[str, Keys]) -> dict[str, Keys]:
    """Those whose prompts are about as long as their name says: a model may have fewer positions."""
    return {size: keys for size, keys in found.items() if _about(figures(keys)["prompt_tokens"], int(size))}


def cold_beside_warm(found: Beside) -> dict[str, Any]:
    """What a warm key waits for longer, key by key, in milliseconds and in chunks of the cold prompt."""
    pairs = [pair for pair in found.pairs if all(key.by_engine for key in pair)]
    whole = median([beside.key_ms - alone.key_ms for alone, beside in pairs])
    first = median([b.trace["first_tokens_ms"] - a.trace["first_tokens_ms"] for a, b in pairs])
    cold = [key.trace for key in found.cold if key.by_engine]
    chunk = median([trace["first_tokens_ms"] / (1 + trace["prefill_passes"]) for trace in cold])
    return {
        "alone": figures([alone for alone, _ in found.pairs]),
        "beside": figures([beside for _, beside in found.pairs]),
        "cold": figures(found.cold),
        "chunk_ms": chunk,
        "delay_ms": {"first_tokens": first, "suggestion": whole},
        "delay_chunks": {"first_tokens": _over(first, chunk), "suggestion": _over(whole, chunk)},
    }


def ratios(parts: Mapping[str, Any]) -> dict[str, float | None]:
    """Those of `BARS` whose part is in `parts`."""
    found: dict[str, float | None] = {}
    if "by_file_lines" in parts:
        p50 = _p50s(parts["by_file_lines"])
        found["file_lines"] = _over(max(p50), min(p50)) if len(p50) > 1 else None
    if "by_context_tokens" in parts:
        p50 = _p50s(parts["by_context_tokens"])
        found["context_tokens"] = _over(p50[-1], p50[0]) if len(p50) > 1 else None
    if "by_editors" in parts:
        sizes = parts["by_editors"]
        most, one = ([p95 for p95 in sizes[size]["p95_of_each"] if p95] for size in (max(sizes, key=int), "1"))
        found["editors"] = _over(max(most), one[0]) if most and one else None
    if cold := parts.get("cold_beside_warm"):
        found["cold_beside_warm"] = cold["delay_chunks"]["first_tokens"]
    return found


def met(ratios: Mapping[str, float | None]) -> dict[str, bool]:
    return {name: value is not None and value <= BARS[name] for name, value in ratios.items()}


def differing(found: Mapping[str, Keys]) -> int:
    """Keys at which the documents were not all suggested the same."""
    return sum(len({key.text for key in keys}) > 1 for keys in zip(*found.values(), strict=True))


def _flat(each: Sequence[Keys]) -> list[Keystroke]:
    return [key for keys in each for key in keys]


def _of(keys: Keys, field: str) -> dict[str, float | None]:
    return summary([key.trace[field] for key in keys])


def _p50s(sizes: Mapping[str, Any]) -> list[float]:
    """In the order of the sizes; those where the engine answered nothing are left out."""
    found = [sizes[size]["keystroke_to_suggestion_ms"]["p50"] for size in sorted(sizes, key=int)]
    return [p50 for p50 in found if p50 is not None]


def _p95(keys: Keys) -> Any:
    return figures(keys)["keystroke_to_suggestion_ms"]["p95"]


def _about(tokens: float | None, size: int) -> bool:
    return tokens is not None and abs(tokens - size) <= TOLERANCE * size


def _over(part: float | None, whole: float | None) -> float | None:
    return None if part is None or whole is None else ratio(part, whole)
