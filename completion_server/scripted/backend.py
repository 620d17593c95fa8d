"""An engine without a model: it says what a script says, through the real server and the real socket.

For tests of front ends and for demonstrations. It keeps every promise of `Backend` (one last reply per request, newer
requests supersede, cancels are seen between two chunks) and measures nothing: it counts a code point as a token and
knows no limit of tokens.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from completion_server.backend import Reply, Snapshot
from completion_server.ending import ending_of
from completion_server.errors import ModelError, Overloaded, RequestError
from completion_server.protocol import (
    Cancelled,
    Complete,
    Delta,
    EngineMessage,
    EnginePhase,
    Error,
    Result,
    State,
    Usage,
    UsePair,
    Warm,
    Warmed,
)
from completion_server.scripted.pairs import ScriptedPairs
from completion_server.scripted.script import Rule, Script

PAIR: Final = "scripted"
MAX_QUEUE: Final = 64

_Reason = Literal["client", "superseded", "shutdown"]


@dataclass(slots=True, eq=False)
class _Job:
    client: int
    request: Complete | Warm
    received: float
    reply: Reply
    stopped: _Reason | None = None


class ScriptedBackend:
    """Implements `Backend` on a thread of its own. `requests` are the last thousand that it was given."""

    def __init__(self, script: Script | Callable[[Complete], Rule]) -> None:
        """With a callable in place of a script, loading is instant and the callable picks the rule of every request."""
        self.requests: deque[Complete | Warm] = deque(maxlen=1_000)
        self._script = script if isinstance(script, Script) else Script()
        self._choose = self._first_match if isinstance(script, Script) else script
        self._state = State("starting", PAIR)
        self._pairs = ScriptedPairs(PAIR, self._script.pairs, self._script.load_ms / 1_000, self._set_state)
        self._on_state: Callable[[State], None] = lambda _state: None
        self._changed = threading.Condition()  # guards all below
        self._queue: deque[_Job] = deque()
        self._running: _Job | None = None
        self._stopping = False
        self._idle_since = time.monotonic()
        self._completed = self._cancelled = self._failed = 0
        self._thread = threading.Thread(target=self._run, name="scripted-engine", daemon=True)

    # -- Backend ---------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self._state

    def start(self, on_state: Callable[[State], None]) -> None:
        self._on_state = on_state
        self._thread.start()

    def submit(self, client: int, request: Complete | Warm, received: float, reply: Reply) -> None:
        job = _Job(client, request, received, reply)
        with self._changed:
            self.requests.append(request)
            if isinstance(request, Complete):
                self._stop_jobs("superseded", lambda other: _gives_way(other, client, request))
            if self._stopping or len(self._queue) >= MAX_QUEUE:
                reply(self._refusal(job))
                return
            self._queue.append(job)
            self._changed.notify_all()

    def use_pair(self, request: UsePair, reply: Reply) -> None:
        self._pairs.use(request, reply)

    def cancel(self, client: int, request_id: int) -> None:
        with self._changed:
            self._stop_jobs("client", lambda job: job.client == client and job.request.id == request_id)

    def close_document(self, client: int, document: str) -> None:
        """Nothing to forget: a script has no prompt state."""

    def disconnect(self, client: int) -> None:
        with self._changed:
            self._stop_jobs("client", lambda job: job.client == client)

    def idle_seconds(self) -> float:
        with self._changed:
            busy = self._queue or self._running is not None
            return 0.0 if busy else time.monotonic() - self._idle_since

    def snapshot(self) -> Snapshot:
        with self._changed:
            return Snapshot(
                device="none",
                target=self._pairs.name,
                running=int(self._running is not None),
                queued=len(self._queue),
                completed=self._completed,
                cancelled=self._cancelled,
                failed=self._failed,
            )

    def stop(self, timeout: float) -> None:
        self._pairs.stop()
        with self._changed:
            self._stopping = True
            self._stop_jobs("shutdown", lambda _job: True)
        if self._thread.ident is not None:
            self._thread.join(timeout)

    # -- the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with self._pairs.held():
            self._load()
        while (job := self._next()) is not None:
            try:
                with self._pairs.held():
                    reply = self._answer(job)
            # A rule that makes no sense is a request that fails; the others go on.
            except Exception as error:
                reply = Error(job.request.id, RequestError.code, f"the script failed ({type(error).__name__})")
            with self._changed:
                self._running = None
                self._count(reply)
            job.reply(reply)

    def _load(self) -> None:
        self._announce("loading", fraction=0.0)
        with self._changed:
            self._changed.wait_for(lambda: self._stopping, self._script.load_ms / 1_000)
        if self._script.load_error is None:
            self._announce("ready")
        else:
            self._announce("failed", self._script.load_error)

    def _next(self) -> _Job | None:
        """The oldest job, or None when all are answered and the end has come."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopping)
            if not self._queue:
                return None
            self._running = self._queue.popleft()
            return self._running

    def _answer(self, job: _Job) -> EngineMessage:
        """Send the `Delta`s of a job and return its last reply."""
        request = job.request
        if self._script.load_error is not None:
            return Error(request.id, ModelError.code, self._script.load_error)
        if isinstance(request, Complete):
            return self._complete(job, request)
        began = time.perf_counter()
        if (reason := self._pause(job, 0.0)) is not None:
            return Cancelled(request.id, reason, Usage())
        return Warmed(request.id, _usage(job, 0, began, began))

    def _complete(self, job: _Job, request: Complete) -> EngineMessage:
        rule = self._choose(request)
        ending = ending_of(request)
        began, first, said = time.perf_counter(), None, 0
        for chunk in _cut(rule.text, 1 if rule.error else rule.chunks):
            if (reason := self._pause(job, rule.delay_ms)) is not None:
                return Cancelled(request.id, reason, _usage(job, said, began, first))
            if rule.error is not None:
                return Error(request.id, rule.error, "the script says so")
            said += len(chunk)
            verified = ending.feed(chunk)
            first = first or time.perf_counter()
            if request.stream and verified:
                job.reply(Delta(request.id, verified, rule.token_scores(ending.text)))
            if ending.finished:
                break
        verified = ending.finish("end-of-text")
        if request.stream and verified:
            job.reply(Delta(request.id, verified, rule.token_scores(ending.text)))
        text, finish = ending.text, ending.finished or "end-of-text"
        usage = _usage(job, said, began, first)
        return Result(request.id, text, finish, usage, rule.token_scores(text), rule.others(request))

    def _first_match(self, request: Complete) -> Rule:
        for rule in self._script.rules:
            if request.context.before.endswith(rule.match) and rule.pair in (None, self._pairs.name):
                return rule
        return Rule()

    def _pause(self, job: _Job, milliseconds: float) -> _Reason | None:
        """Wait, but no longer than until the job is stopped. The reason if it is."""
        with self._changed:
            self._changed.wait_for(lambda: job.stopped is not None, milliseconds / 1_000)
            return job.stopped

    def _stop_jobs(self, reason: _Reason, which: Callable[[_Job], bool]) -> None:
        """Answer those that wait; the one that runs is answered by its thread. The caller holds `_changed`."""
        for job in [job for job in self._queue if which(job)]:
            self._queue.remove(job)
            reply = Cancelled(job.request.id, reason, Usage())
            self._count(reply)
            job.reply(reply)
        if self._running is not None and self._running.stopped is None and which(self._running):
            self._running.stopped = reason
        self._changed.notify_all()

    def _count(self, reply: EngineMessage) -> None:
        self._idle_since = time.monotonic()
        self._completed += isinstance(reply, Result | Warmed)
        self._cancelled += isinstance(reply, Cancelled)
        self._failed += isinstance(reply, Error)

    def _refusal(self, job: _Job) -> EngineMessage:
        if self._stopping:
            return Cancelled(job.request.id, "shutdown", Usage())
        return Error(job.request.id, Overloaded.code, f"{MAX_QUEUE} requests are waiting")

    def _announce(self, phase: EnginePhase, detail: str = "", fraction: float | None = None) -> None:
        self._set_state(State(phase, self._pairs.name, detail, fraction))

    def _set_state(self, state: State) -> None:
        self._state = state
        self._on_state(state)


def _gives_way(job: _Job, client: int, request: Complete) -> bool:
    """Whether `job` ends because `request` of `client` has come."""
    if job.client != client:
        return False
    return isinstance(job.request, Warm) or job.request.context.document == request.context.document


def _cut(text: str, parts: int) -> list[str]:
    """`parts` pieces whose lengths differ by at most one. Some are empty if the text is shorter."""
    edges = [len(text) * index // max(parts, 1) for index in range(max(parts, 1) + 1)]
    return [text[start:end] for start, end in pairwise(edges)]


def _usage(job: _Job, said: int, began: float, first: float | None) -> Usage:
    now = time.perf_counter()
    prompt = len(job.request.context.before)
    return Usage(
        prompt_tokens=prompt,
        computed_tokens=prompt,
        completion_tokens=said,
        queue_ms=1_000 * (began - job.received),
        ttft_ms=1_000 * ((first or now) - job.received),
        e2e_ms=1_000 * (now - job.received),
    )
