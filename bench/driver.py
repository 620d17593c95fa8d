"""Asks an engine in this process, without sockets and editors, and waits for the answer. Knows nothing of peers."""

import time
from dataclasses import dataclass
from typing import Any

from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.errors import ForetypeError
from completion_server.protocol import Complete, Context, Decoding, EngineMessage, Limits, Result, Usage, Warm

_ANY_LINES = 10_000


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    usage: Usage
    seconds: float  # from the request to the result


class Driver:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._requests = 0

    def decode(self, prompt: str, tokens: int, *, drafting: bool = True) -> Decoded:
        """At most `tokens` tokens behind `prompt`: its keys and values are there, but no suggestion to draft from."""
        context = Context("bench", 1, prompt, "\n", language="python")
        self._ask(Warm(self._next(), context))
        began = time.perf_counter()
        result = self._ask(Complete(self._next(), context, Limits(tokens, _ANY_LINES), Decoding(drafting=drafting)))
        seconds = time.perf_counter() - began
        self._engine.disconnect(0)
        return Decoded(result.text, result.usage, seconds)

    def cold(self, text: str, tokens: int) -> Usage:
        """The first token behind about the first `tokens` tokens of `text`, nothing cached."""
        pair = self._engine.pair
        pair.slots.clear()
        characters = len(pair.text.decode(pair.text.encode(text)[:tokens]))
        context = Context("cold", 1, text[:characters], "", language="python")
        result = self._ask(Complete(self._next(), context, Limits(1, 1)))
        self._engine.disconnect(0)
        usage: Usage = result.usage
        return usage

    def _ask(self, request: Complete | Warm) -> Any:
        replies: list[EngineMessage] = []
        self._engine.add(Job(request.id, 0, request, time.perf_counter(), replies.append, on_close=lambda _: True))
        while self._engine.busy:
            self._engine.step()
        if isinstance(request, Complete) and not isinstance(replies[-1], Result):
            raise ForetypeError(f"the engine answered with {type(replies[-1]).__name__}")
        return replies[-1]

    def _next(self) -> int:
        self._requests += 1
        return self._requests
