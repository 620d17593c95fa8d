"""The engine: takes jobs, runs at most one target pass per `step` for all whose turn it is, answers every job once.

    step
     ├─ answer what was cancelled or superseded since the last pass, and park its slot
     ├─ build the prompts of new jobs and lease them slots, as far as there are any
     ├─ ask the scheduler who is in the pass; each of them either
     │      feeds a chunk of its prompt, to the target or to the draft
     │      or drafts (passes of the draft), to be verified
     ├─ one target pass over all rows
     └─ commit each row, answer the jobs that are done

With no job at all, a step continues what was shown last (`continuation`). Plain and synchronous: tests drive it step by
step. Knows nothing of threads, sockets or how models are loaded.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from completion_server.backend import Snapshot
from completion_server.engine import report
from completion_server.engine.choices import Choices, LastReply
from completion_server.engine.continuation import Continuations, Reach
from completion_server.engine.documents import Documents
from completion_server.engine.job import Job
from completion_server.engine.opening import Opening
from completion_server.engine.pair import LoadedPair
from completion_server.engine.scheduler import Scheduler
from completion_server.engine.work import Work
from completion_server.errors import ForetypeError, type_and_place
from completion_server.models.decoder import Feed
from completion_server.protocol import Cancelled, Complete, Delta, Error, Result, Warmed

log = logging.getLogger(__name__)


class Engine:
    """Serves one loaded pair. Not thread-safe; `Job.cancel` alone may be called from elsewhere."""

    def __init__(
        self,
        pair: LoadedPair,
        *,
        chunk_tokens: int = 256,
        reach: Reach | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`chunk_tokens` is the longest part of a prompt that is fed between two looks at the cancel flags.

        `reach` is how far suggestions are continued while nothing is asked for, None: not at all.
        """
        self.pair = pair
        self._chunk = chunk_tokens
        self._clock = clock
        self._scheduler = Scheduler(chunk_tokens)
        self._documents = Documents(pair)
        self._opening = Opening(pair, chunk_tokens)
        self._continuations = Continuations(pair, reach)
        self._idle_since = clock()
        self._work: dict[int, Work] = {}
        self._branches = 0  # ever; their keys are negative
        self._tally = report.Tally()

    # -- what the thread around it calls ---------------------------------------------------------------------------

    def add(self, job: Job) -> None:
        """Take on a job; it is answered by some later `step`."""
        self._continuations.forget(*job.document)
        request = job.request
        choices = Choices(job, request) if isinstance(request, Complete) and request.alternatives > 1 else None
        self._work[job.key] = Work(job, choices)
        self._scheduler.add(job.key, job.client, job.background)

    @property
    def chunk_tokens(self) -> int:
        """The longest part of a prompt that one pass takes."""
        return self._chunk

    @property
    def busy(self) -> bool:
        return bool(self._work)

    @property
    def rest_s(self) -> float | None:
        """Seconds until `step` continues a suggestion if no job comes; None if there is none to continue."""
        reach = self._continuations.reach
        if reach is None or not self._continuations:
            return None
        return max(0.0, self._idle_since + reach.pause_s - self._clock())

    def step(self) -> bool:
        """Answer cancelled jobs and advance others by at most one target pass. False if there was nothing to do."""
        answered = self._sweep()
        if not self._work and not answered:
            return self._continue()
        self._seat()
        pending = {key: work.sequence.pending() for key, work in self._work.items() if work.sequence and work.seated}
        rows = self._scheduler.rows(pending)
        self._run_pass({key: min(pending[key], self._chunk) for key in rows})
        if not self._work:
            self._idle_since = self._clock()
            self.pair.slots.check_integrity(owners=())
        return True

    def close_document(self, client: int, document: str) -> None:
        self._continuations.forget(client, document)
        self._documents.close(client, document)

    def disconnect(self, client: int) -> None:
        self._continuations.forget(client)
        self._documents.close_client(client)

    @property
    def description(self) -> str:
        """One line for a person: what computes, where, and how fast."""
        return report.description(self.pair)

    def snapshot(self) -> Snapshot:
        """Counters and facts; read from another thread they may be one step old."""
        return report.snapshot(self.pair, list(self._work.values()), self._tally)

    # -- one step --------------------------------------------------------------------------------------------------

    def _sweep(self) -> bool:
        cancelled = [work for work in self._work.values() if work.cancelled is not None]
        for work in cancelled:
            reason = work.cancelled or "client"
            self._tally.wasted_tokens += work.sequence.fed_tokens if work.sequence else 0
            self._end(work, Cancelled(work.job.request.id, reason, work.usage(self._clock())))
        return bool(cancelled)

    def _seat(self) -> None:
        """Give slots to those without, in the scheduler's order, as long as one is free or somebody gives way."""
        seated = {key for key, work in self._work.items() if work.seated}
        for key in self._scheduler.waiting(seated):
            if not self.pair.slots.can_acquire():
                other = self._scheduler.gives_way(key, seated)
                if other is None:
                    continue
                self._park(self._work[other])
                seated.discard(other)
            if self._begin(self._work[key]):
                seated.add(key)

    def _begin(self, work: Work) -> bool:
        """Lease a slot, for the first time or again; False if the job ended with that."""
        try:
            if work.sequence is not None:
                self._opening.again(work.job, work.sequence)
            else:
                work.begin(self._clock())
                work.document = self._documents.get(work.job.client, work.job.request.context.document)
                prompt = work.prompt or self._opening.prompt(work.job, work.document)
                work.tokenized(self._clock())
                work.sequence = self._opening.sequence(work.job, work.document, prompt, branch=work.branch is not None)
                work.opened(self._clock())
        except Exception as error:  # one request's trouble is not the others'
            self._fail(work, error)
            return False
        return True

    def _run_pass(self, widths: Mapping[int, int]) -> None:
        """One pass over jobs, `widths` without drafts. Who fails or is cancelled is left out, the others go on."""
        works = [self._work[key] for key in widths]
        rows: list[tuple[Work, Feed]] = []
        drafted = 0
        for work in works:
            try:
                others = sum(widths.values()) - widths[work.job.key] + drafted
                feed = self._feed(work, others, room=self._chunk - drafted)
            except Exception as error:
                self._fail(work, error)
                continue
            if feed is not None:
                rows.append((work, feed))
                drafted += max(0, feed.logits - 1)
        rows = [(work, feed) for work, feed in rows if work.cancelled is None]  # drafting took passes of its own
        for work, logits in self._forward(rows):
            try:
                self._take(work, logits)
            except Exception as error:
                self._fail(work, error)
        for work in works:
            if work.sequence is not None and work.sequence.warmed:
                self._end(work, Warmed(work.job.request.id, work.usage(self._clock())))

    def _feed(self, work: Work, others: int, room: int) -> Feed | None:
        if work.sequence is None or work.cancelled is not None:
            return None
        return work.sequence.feed(others, room)

    def _forward(self, rows: Sequence[tuple[Work, Feed]]) -> Iterator[tuple[Work, Tensor]]:
        """The logits of each row. Where the shared pass fails each row runs alone: only the guilty one is to fail."""
        if not rows:
            return
        try:
            every = self.pair.target.forward(self.pair.memory, [feed for _, feed in rows])
        except Exception as error:
            if len(rows) == 1:
                self._fail(rows[0][0], error)
                return
            log.warning("a pass of %d rows failed (%s): each runs alone", len(rows), type_and_place(error))
        else:
            yield from zip((work for work, _ in rows), every, strict=True)
            return
        for row in rows:
            if row[0].cancelled is None:
                yield from self._forward([row])

    def _take(self, work: Work, logits: Tensor) -> None:
        sequence, request = work.sequence, work.job.request
        if sequence is None:
            raise ValueError("a job without a sequence was in a pass")
        sequence.take(logits)
        work.passed(self._clock())
        if sequence.generation is None or not sequence.generation.counters.passes:
            return
        if work.first_tokens is None:
            work.first_tokens = self._clock()
            self._branch_out(work)
        text = sequence.text
        if text and work.first_text is None:
            work.first_text = self._clock()
        if isinstance(request, Complete) and request.stream and len(text) > work.sent:
            work.job.reply(Delta(request.id, text[work.sent :], sequence.scores))
            work.sent = len(text)
        if sequence.finish is not None:
            usage = work.usage(self._clock())
            self._end(work, Result(request.id, text, sequence.finish, usage, sequence.scores))

    def _continue(self) -> bool:
        if self.rest_s != 0:
            return False
        self._continuations.advance()
        return True

    # -- the end of a job ------------------------------------------------------------------------------------------

    def _fail(self, work: Work, error: Exception) -> None:
        """Answer with the error. What is logged of an unforeseen one is its type and place, never its text."""
        if isinstance(error, ForetypeError):
            message = Error(work.job.request.id, error.code, str(error))
        else:
            log.error("a request failed: %s", type_and_place(error))
            message = Error(
                work.job.request.id, "internal", f"the engine failed on this request: {type(error).__name__}"
            )
        self._end(work, message)

    def _end(self, work: Work, message: LastReply) -> None:
        """Answer, then park the slot: what its rows record is valid, whatever happened."""
        del self._work[work.job.key]
        self._scheduler.remove(work.job.key, heir=next(iter(self._beside(work)), None))
        if work.choices is None:
            self._answer(work.job, message)
        elif (reply := work.choices.take(work.branch, message)) is not None:
            self._answer(work.choices.job, reply)
        sequence = work.sequence
        if work.branch is None and work.document and sequence is not None and sequence.generation is not None:
            work.document.remember(list(sequence.tokens))
            if isinstance(message, Result):
                self._continuations.offer(work.job.document, work.document, sequence)
        self._park(work)
        self._branch_out(work)

    def _answer(self, job: Job, reply: LastReply) -> None:
        self._tally.count(reply)
        job.finish(reply)

    def _branch_out(self, work: Work) -> None:
        """Start what its request wants beside it. The prompt is computed: a branch takes a copy of it or its slot."""
        prompt = work.prompt or (work.sequence.prompt if work.sequence else None)
        if work.choices is None or prompt is None:
            return
        for number, request in work.choices.due():
            self._branches += 1
            job = Job(-self._branches, work.job.client, request, work.job.received, lambda _: None, lambda _: True)
            self._scheduler.add(job.key, job.client, extra=bool(self._beside(work)))
            self._work[job.key] = Work(job, work.choices, number, prompt)

    def _beside(self, work: Work) -> list[int]:
        """The keys of what is at work for the same request, `work` itself included where it is."""
        if work.choices is None:
            return []
        return [key for key, other in self._work.items() if other.choices is work.choices]

    def _park(self, work: Work) -> None:
        slot = work.sequence.leave() if work.sequence else None
        if slot is not None:
            self.pair.slots.release(slot)
            if work.prompt is not None:
                self.pair.slots.drop_copy(slot, work.prompt.tokens)
