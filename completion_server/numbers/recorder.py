"""From what passes through the engine's hub to records: each answered request once, each report of a language server.

Knows nothing of sockets, files or metrics; `sinks` take the records. Text is never looked at.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

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
)
from completion_server.numbers.stages import engine_way_ms
from completion_server.numbers.traces import Traces
from completion_server.protocol import (
    Cancelled,
    Complete,
    EngineMessage,
    Error,
    KeyReport,
    Report,
    Result,
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
        self._traces = Traces(lambda trace: self._tell([trace]), clock)

    def answered(self, client: str, pair: str, request: Complete, reply: EngineMessage, *, connection: int = 0) -> None:
        """`reply` is the last one of `request`; others are no end of anything and are not counted.

        `connection` is the number of the client, which tells those of one name apart.
        """
        if not isinstance(reply, Result | Cancelled | Error):
            return
        now, language = self._clock(), self._names.language(request.context.language)
        if self._sinks:
            self._tell(_of_request(now, client, pair, language, reply))
        self._traces.answered((connection, request.id), client, pair, language, _outcome(reply), _usage(reply))

    def latest(self, count: int) -> tuple[Trace, ...]:
        """Of the last `count` answered requests, the newest last."""
        return self._traces.latest(count)

    def reported(self, pair: str, report: Report, *, client: str = "", connection: int = 0) -> None:
        """A language server said what it has seen; `client` and `connection` are its own."""
        now = self._clock()
        for key in report.keys:
            key = self._names.tidy(key)
            took = self._traces.reported(connection, client, pair, key)
            self._tell([_of_key(now, report.editor, pair, key, took)])
        self._tell(
            EventRecord(now, report.editor, pair, event.language, event.kind, event.characters)
            for event in report.events
        )

    def _tell(self, records: Iterable[Record]) -> None:
        for record in map(self._names.tidy, records):
            for sink in self._sinks:
                sink(record)


def _of_key(now: float, editor: str, pair: str, key: KeyReport, engine_ms: float | None) -> KeyRecord:
    """`engine_ms` is how long the engine says that it took for it."""
    times = key.times
    return KeyRecord(
        now,
        editor,
        pair,
        key.language,
        key.outcome,
        key.characters,
        key.suggestion_ms,
        key.first_tokens_ms,
        times.key_ms,
        times.server_way_ms,
        times.sent_ms,
        0.0 if engine_ms is None else engine_way_ms(engine_ms, times),
        times.trimmed_ms,
        times.returned_ms,
        times.painted_ms,
    )


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
