"""From the keys of a person who does not wait to the numbers that are published. Pure; words as in `bench.report`.

Every time is given as p50, p95 and p99 with their intervals; there is no mean.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bench.bootstrap import blocks, intervals
from bench.limits import Limits
from bench.percentiles import ratio, summary
from bench.replay.actions import Accept, Action, Key
from bench.replay.presses import Press, Wait, waits
from bench.report import report
from bench.typist import keys_of
from lsp.events import Event

_ENGINE = ("engine", "growing", "empty", "unsure")  # what the engine had a part in, whatever was made of it


def figures(of_each: Sequence[Sequence[Press]], limits: Limits, seed: int) -> dict[str, Any]:
    """`of_each`: the presses of each editor, in order.

    `keystroke_to_suggestion_ms` is over keys that asked the engine, superseded ones among them, until an answer to them
    or to a later key; `ttft_ms` over those that it answered. `goodput`: of the keys whose wait ended with a suggestion,
    the share for which it came within both limits, counted from the key itself.
    """
    presses = [press for each in of_each for press in each]
    waited = [waits(each) for each in of_each]
    of = [block for each in waited for block in blocks(each)]
    found = report([press.stroke for press in presses], limits)
    return {
        **found,
        "keystroke_to_suggestion_ms": summary(_whole(wait for each in waited for wait in each)),
        "goodput": _goodput([wait for each in waited for wait in each], limits),
        "superseded": sum(not press.answered for press in presses),
        "intervals": _nested(intervals(of, lambda drawn: _bootstrapped(drawn, limits), seed)),
    }


def key_to_suggestion_ms(presses: Sequence[Press]) -> dict[str, float | None]:
    """Of one editor, as in `figures`."""
    return summary(_whole(waits(presses)))


def taken(done: Iterable[Action], events: Iterable[Event]) -> dict[str, Any]:
    """What became of suggestions, and the keys that they saved: those that an accept stands for, less the accept."""
    done, events = list(done), list(events)
    count = Counter(event.kind for event in events)
    characters = Counter[str]()
    for event in events:
        characters[event.kind] += event.characters
    accepts = [action for action in done if isinstance(action, Accept)]
    pressed = sum(isinstance(action, Key) for action in done)
    saved = sum(len(keys_of(action.text)) - 1 for action in accepts)
    return {
        "suggestions": {
            "shown": count["shown"],
            "accepted": count["accepted"],
            "partly_accepted": count["partly-accepted"],
            "typed_through": count["typed-through"],
        },
        "suggestion_acceptance_rate": ratio(count["accepted"] + count["partly-accepted"], count["shown"]),
        "accepted_characters": sum(len(action.text) for action in accepts),
        "typed_through_characters": characters["typed-through"],
        "keys_saved": saved,
        "keys_saved_share": ratio(saved, saved + pressed),
    }


def gaps_ms(presses: Sequence[Press]) -> dict[str, float | None]:
    """Between one key and the next, pauses included: how fast it was typed."""
    return summary([1e3 * (after.at - before.at) for before, after in pairwise(presses)])


def _whole(waited: Iterable[Wait]) -> list[float]:
    return [wait.whole_ms for wait in waited if wait.press.stroke.outcome in _ENGINE or not wait.press.answered]


def _goodput(waited: Sequence[Wait], limits: Limits) -> float | None:
    shown = [wait for wait in waited if wait.by.stroke.text]
    return ratio(sum(limits.met(wait.first_ms, wait.whole_ms) for wait in shown), len(shown))


def _bootstrapped(waited: Sequence[Wait], limits: Limits) -> dict[str, float | None]:
    ttft = [wait.press.stroke.trace["ttft_ms"] for wait in waited if wait.press.stroke.by_engine]
    found = {f"keystroke_to_suggestion_ms.{name}": value for name, value in summary(_whole(waited)).items()}
    found |= {f"ttft_ms.{name}": value for name, value in summary(ttft).items()}
    strokes = [wait.press.stroke for wait in waited]
    return found | {
        "goodput": _goodput(waited, limits),
        "from_cache_share": ratio(sum(stroke.outcome == "from-cache" for stroke in strokes), len(strokes)),
        "superseded_share": ratio(sum(not wait.press.answered for wait in waited), len(waited)),
    }


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """`{"a.b": x}` as `{"a": {"b": x}}`."""
    found: dict[str, Any] = {}
    for name, value in flat.items():
        part, _, rest = name.partition(".")
        if rest:
            found.setdefault(part, {})[rest] = value
        else:
            found[part] = value
    return found
