"""From what passes through the engine's hub to records: each answered request once, each report of a language server.

Knows nothing of sockets, files or metrics; `sinks` take the records. Text is never looked at.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from completion_server.errors import Overloaded
from completion_server.numbers.names import Names
from completion_server.numbers.records import (
    DraftRecord,
    EventRecord,
    KeyRecord,
    PassRecord,
    Record,
    RequestOutcome,
    RequestRecord,
    TraceRecord,
)
from completion_server.numbers.summary import SUGGESTION_MS
from completion_server.protocol import (
    MAX_TRACES,
    Cancelled,
    Complete,
    EngineMessage,
    Error,
    Report,
    Result,
    Stage,
    Trace,
    Usage,
)

Sink = Callable[[Record], None]


class Recorder:
    """`sinks` may be called from any thread and never raise; `clock` gives Unix seconds."""

    def __init__(self, sinks: Sequence[Sink], clock: Callable[[], float] = time.time) -> None:
        self._sinks = tuple(sinks)
        self._clock = clock
        self._names = Names()
        self._latest: deque[tuple[float, Trace]] = deque(maxlen=MAX_TRACES)

    def answered(self, client: str, pair: str, request: Complete, reply: EngineMessage) -> None:
        """`reply` is the last one of `request`; others are no end of anything and are not counted."""
        if not isinstance(reply, Result | Cancelled | Error):
            return
        now, language = self._clock(), request.context.language
        usage = _usage(reply)
        found = tuple(Stage(name, took) for name, took in stages(usage))
        self._latest.append((now, Trace(0.0, client, language, _outcome(reply), usage.e2e_ms, found)))
        if self._sinks:
            self._tell(_of_request(now, client, pair, language, reply))

    def latest(self, count: int) -> tuple[Trace, ...]:
        """Of the last `count` answered requests, the newest last."""
        now = self._clock()
        kept = list(self._latest)[-count:] if count else []
        return tuple(replace(trace, age_s=max(0.0, now - ended)) for ended, trace in kept)

    def reported(self, pair: str, report: Report) -> None:
        """A language server said what it has seen."""
        now = self._clock()
        self._tell(
            KeyRecord(
                now,
                report.editor,
                pair,
                key.language,
                key.outcome,
                key.characters,
                key.suggestion_ms,
                key.first_tokens_ms,
            )
            for key in report.keys
        )
        self._tell(
            EventRecord(now, report.editor, pair, event.language, event.kind, event.characters)
            for event in report.events
        )

    def _tell(self, records: Iterable[Record]) -> None:
        for record in map(self._names.tidy, records):
            for sink in self._sinks:
                sink(record)


def stages(usage: Usage) -> list[tuple[str, float]]:
    """Where the time of a request went, in order: (name, milliseconds)."""
    found = [("queued", usage.queue_ms), ("prompt", usage.prompt_ms), ("prefill", usage.prefill_ms)]
    for number, turn in enumerate(usage.rounds, start=1):
        drafted = f"{turn.drafter} {turn.accepted}/{turn.drafted}" if turn.drafted else "no draft"
        found.append((f"round {number}: {drafted}, width {turn.width}", turn.ms))
    rest = usage.e2e_ms - sum(took for _, took in found)
    return [(name, round(took, 3)) for name, took in [*found, ("the rest", max(0.0, rest))] if took > 0]


def _of_request(
    now: float, client: str, pair: str, language: str, reply: Result | Cancelled | Error
) -> Iterator[Record]:
    usage = _usage(reply)
    yield RequestRecord(
        now,
        client,
        pair,
        language,
        _outcome(reply),
        usage.prompt_tokens,
        usage.cached_tokens,
        usage.computed_tokens,
        usage.completion_tokens,
        usage.drafted_tokens,
        usage.accepted_tokens,
        usage.target_passes,
        usage.queue_ms,
        usage.first_tokens_ms,
        usage.ttft_ms,
        usage.e2e_ms,
    )
    for count in usage.drafts:
        yield DraftRecord(now, pair, language, count.drafter, count.position, count.drafted, count.accepted)
    for number, turn in enumerate(usage.rounds):
        yield PassRecord(now, pair, turn.width, turn.ms, first=number == 0)
    if usage.e2e_ms > SUGGESTION_MS:
        yield TraceRecord(now, pair, language, round(usage.e2e_ms, 3), json.dumps(stages(usage)))


def _usage(reply: Result | Cancelled | Error) -> Usage:
    return Usage() if isinstance(reply, Error) else reply.usage


def _outcome(reply: Result | Cancelled | Error) -> RequestOutcome:
    match reply:
        case Result():
            return "completed"
        case Cancelled(reason=reason):
            return reason
        case Error(code=code):
            return "refused" if code == Overloaded.code else "failed"
