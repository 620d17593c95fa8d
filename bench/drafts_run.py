"""One suggestion by one choice of drafters.

The engines share models, memory and slots, so that a prompt is computed once for all; each has a policy of its own.
"""

import time
from dataclasses import dataclass, replace
from typing import Any

from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.errors import ForetypeError
from completion_server.protocol import Complete, Context, DraftCount, EngineMessage, Limits, Result, Usage, Warm
from speculative import AdaptivePolicy, FixedPolicy

MODES = ("target alone", "n-grams", "draft model", "all together")
_DRAFTERS = {"n-grams": ("tail", "n-gram"), "draft model": ("model",), "all together": ("tail", "n-gram", "model")}
_ANY_LINES = 10_000


@dataclass(frozen=True, slots=True)
class Run:
    """`at` names the repetition and the place: runs with the same one are of the same text.

    `drafts` are what was drafted and accepted, by drafter and position.
    """

    mode: str
    file: str
    language: str
    at: tuple[int, int]
    text: str
    tokens: int
    seconds: float
    passes: int
    drafts: tuple[DraftCount, ...]


def engines(base: Engine) -> dict[str, Engine]:
    """An engine for each of `MODES`."""
    return {mode: _engine(base, mode) for mode in MODES}


def _engine(base: Engine, mode: str) -> Engine:
    pair = base.pair
    drafters = _DRAFTERS.get(mode, ())
    changed = replace(
        pair,
        drafters=drafters,
        draft=pair.draft if "model" in drafters else None,
        policy=AdaptivePolicy(pair.costs) if drafters else FixedPolicy(0),
    )
    return Engine(changed, chunk_tokens=base.chunk_tokens)


def decode(engine: Engine, context: Context, tokens: int) -> tuple[str, float, Usage]:
    """Text, seconds and counts of at most `tokens` tokens at a cursor whose prompt is warm; nothing else is known."""
    _ask(engine, Warm(1, context))
    began = time.perf_counter()
    result = _ask(engine, Complete(2, context, Limits(tokens, _ANY_LINES), raw=True))
    seconds = time.perf_counter() - began
    engine.disconnect(0)
    return result.text, seconds, result.usage


def _ask(engine: Engine, request: Complete | Warm) -> Any:
    replies: list[EngineMessage] = []
    engine.add(Job(request.id, 0, request, time.perf_counter(), replies.append, on_close=lambda _: True))
    while engine.busy:
        engine.step()
    if isinstance(request, Complete) and not isinstance(replies[-1], Result):
        raise ForetypeError(f"the engine answered with {type(replies[-1]).__name__}")
    return replies[-1]
