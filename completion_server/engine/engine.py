"""The engine: takes jobs, gives each its turns, runs at most one target pass per `step`, answers every job once.

    step
     ├─ answer what was cancelled or superseded since the last pass, and park its slot
     ├─ ask the scheduler whose turn it is
     └─ for that job, one of:  build its prompt and lease a slot  (no pass; goes straight on)
                               feed a chunk of its prompt         (one target pass)
                               feed a chunk to the draft          (one draft pass)
                               draft, verify, commit              (one target pass)

Plain and synchronous: tests drive it step by step. Knows nothing of threads, sockets or how models are loaded.
"""

import logging
import time
from collections.abc import Callable

from torch import Tensor

from completion_server.backend import Snapshot
from completion_server.ending import Ending
from completion_server.engine.documents import Documents, DocumentState
from completion_server.engine.draft_row import DraftRow
from completion_server.engine.job import Job
from completion_server.engine.pair import LoadedPair
from completion_server.engine.scheduler import Scheduler
from completion_server.engine.sequence import Sequence
from completion_server.engine.work import Work
from completion_server.errors import ForetypeError, RequestError, type_and_place
from completion_server.kv.slots import Lease
from completion_server.models.decoder import Feed
from completion_server.prompts import Prompt
from completion_server.protocol import Cancelled, Complete, Decoding, Delta, EngineMessage, Error, Result, Warmed
from completion_server.tokenization import StreamDecoder
from speculative import FixedPolicy, Generation, ModelDrafter, PrefixConstraint, Sampling, SamplingError

log = logging.getLogger(__name__)


class Engine:
    """Serves one loaded pair. Not thread-safe; `Job.cancel` alone may be called from elsewhere."""

    def __init__(
        self, pair: LoadedPair, *, chunk_tokens: int = 256, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """`chunk_tokens` is the longest part of a prompt that is fed between two looks at the cancel flags."""
        self.pair = pair
        self._chunk = chunk_tokens
        self._clock = clock
        self._scheduler = Scheduler()
        self._documents = Documents(pair)
        self._work: dict[int, Work] = {}
        self._completed = self._cancelled = self._failed = self._wasted_tokens = 0

    # -- what the thread around it calls ---------------------------------------------------------------------------

    def add(self, job: Job) -> None:
        """Take on a job; it is answered by some later `step`."""
        self._work[job.key] = Work(job)
        self._scheduler.add(job.key, job.client, job.background)

    @property
    def chunk_tokens(self) -> int:
        """The longest part of a prompt that one pass takes."""
        return self._chunk

    @property
    def busy(self) -> bool:
        return bool(self._work)

    def step(self) -> bool:
        """Answer cancelled jobs and advance one other by at most one target pass. False if there was nothing to do."""
        swept = self._sweep()
        key = self._scheduler.next(self._blocked())
        if key is None:
            return swept
        work = self._work[key]
        try:
            self._advance(work)
        except Exception as error:  # one request's trouble is not the others'
            self._fail(work, error)
        if not self._work:
            self.pair.slots.check_integrity()
        return True

    def close_document(self, client: int, document: str) -> None:
        self._documents.close(client, document)

    def disconnect(self, client: int) -> None:
        self._documents.close_client(client)

    @property
    def description(self) -> str:
        """One line for a person: what computes, where, and how fast."""
        pair, costs = self.pair, self.pair.costs
        draft = pair.draft.name if pair.draft else "no draft model"
        return (
            f"{pair.target_name} with {draft}, {', '.join(pair.drafters)} on {pair.target.device.type} "
            f"({pair.target.arithmetic}); a pass takes {costs.target(1):.0f} ms at width 1, "
            f"{costs.target(8):.0f} ms at 8"
        )

    def snapshot(self) -> Snapshot:
        """Counters and facts; read from another thread they may be one step old."""
        pair = self.pair
        draft_bytes = pair.draft.memory.allocated_bytes if pair.draft else 0
        running = sum(1 for work in list(self._work.values()) if work.sequence is not None)
        return Snapshot(
            device=str(pair.target.device),
            dtype=pair.target.arithmetic,
            target=pair.target_name,
            draft=pair.draft.name if pair.draft else None,
            drafters=pair.drafters,
            running=running,
            queued=len(self._work) - running,
            slots_used=pair.slots.used,
            slots_total=len(pair.slots.slots),
            kv_bytes=pair.memory.allocated_bytes + draft_bytes,
            kv_budget_bytes=pair.kv_budget_bytes,
            completed=self._completed,
            cancelled=self._cancelled,
            failed=self._failed,
            wasted_tokens=self._wasted_tokens,
            notes=pair.notes,
        )

    # -- one step --------------------------------------------------------------------------------------------------

    def _sweep(self) -> bool:
        cancelled = [work for work in self._work.values() if work.job.cancelled is not None]
        for work in cancelled:
            reason = work.job.cancelled or "client"
            self._cancelled += 1
            self._wasted_tokens += work.sequence.fed_tokens if work.sequence else 0
            self._end(work, Cancelled(work.job.request.id, reason, work.usage(self._clock())))
        return bool(cancelled)

    def _blocked(self) -> frozenset[int]:
        """Jobs that cannot begin because every slot is at work."""
        if self.pair.slots.can_acquire():
            return frozenset()
        return frozenset(key for key, work in self._work.items() if work.sequence is None)

    def _advance(self, work: Work) -> None:
        sequence = work.sequence or self._begin(work)
        feed = sequence.prefill(self._chunk)
        if feed is not None:
            self._forward(feed)
            sequence.prefilled(feed)
        elif sequence.prefill_draft(self._chunk):
            pass
        elif sequence.generation is None:
            self._complete(work, Warmed(work.job.request.id, work.usage(self._clock())))
        else:
            self._round(work, sequence)

    def _round(self, work: Work, sequence: Sequence) -> None:
        feed = sequence.propose()
        if work.job.cancelled is not None:  # drafting took passes of the draft; look before the target's
            return
        sequence.commit(self._forward(feed))
        if work.first_tokens is None:
            work.first_tokens = self._clock()
        text = sequence.text
        if text and work.first_text is None:
            work.first_text = self._clock()
        request = work.job.request
        if isinstance(request, Complete) and request.stream and len(text) > work.sent:
            work.job.reply(Delta(request.id, text[work.sent :]))
            work.sent = len(text)
        if sequence.finish is not None:
            self._complete(work, Result(request.id, text, sequence.finish, work.usage(self._clock())))

    def _forward(self, feed: Feed) -> Tensor:
        (logits,) = self.pair.target.forward(self.pair.memory, [feed])
        return logits

    # -- the beginning and the end of a job ------------------------------------------------------------------------

    def _begin(self, work: Work) -> Sequence:
        job = work.job
        context = job.request.context
        work.began = self._clock()
        work.document = self._documents.get(job.client, context.document)
        prompt = work.document.build(context)
        lease = self._lease(job.key, prompt)
        if self.pair.draft is not None:
            work.draft_row = DraftRow(self.pair.draft.decoder, self.pair.draft.memory, lease.slot)
        work.sequence = Sequence(
            prompt,
            lease,
            work.draft_row,
            self._generation(job, prompt, work.document, work.draft_row),
            StreamDecoder(self.pair.text, skip=len(prompt.forced)),
            self._ending(job),
        )
        return work.sequence

    def _lease(self, owner: int, prompt: Prompt) -> Lease:
        lease = self.pair.slots.acquire(owner, prompt.tokens)
        if lease.copy_from is not None:
            self.pair.memory.copy(lease.copy_from, lease.slot.index, lease.cached)
            if self.pair.draft is not None:
                self.pair.draft.memory.copy(lease.copy_from, lease.slot.index, lease.draft_cached)
        return lease

    def _generation(
        self, job: Job, prompt: Prompt, document: DocumentState, draft_row: DraftRow | None
    ) -> Generation | None:
        pair, request = self.pair, job.request
        if not isinstance(request, Complete):
            return None
        decoding = request.decoding
        drafters = document.drafters(prompt) if decoding.drafting else []
        if decoding.drafting and draft_row is not None and pair.draft is not None:
            drafters.append(ModelDrafter(draft_row, pair.draft.vocab_size, chunk=self._chunk))
        healed = len(prompt.forced)  # each forced byte may cost a token on top of what was asked for
        return Generation(
            prompt.tokens,
            max_new_tokens=min(request.limits.max_tokens + healed, pair.context_tokens - len(prompt.tokens)),
            stop_ids=pair.layout.stop_ids,
            vocab_size=pair.vocab_size,
            policy=pair.policy if decoding.drafting else FixedPolicy(0),
            drafters=drafters,
            sampling=_sampling(decoding),
            constraint=PrefixConstraint(pair.token_bytes, prompt.forced) if prompt.forced else None,
            seed=decoding.seed,
            cancelled=lambda: job.cancelled is not None,
        )

    def _ending(self, job: Job) -> Ending:
        context = job.request.context
        lines = job.request.limits.max_lines if isinstance(job.request, Complete) else 1
        return Ending(context.before, context.after, context.language, lines)

    def _complete(self, work: Work, message: Result | Warmed) -> None:
        self._completed += 1
        self._end(work, message)

    def _fail(self, work: Work, error: Exception) -> None:
        """Answer with the error. What is logged of an unforeseen one is its type and place, never its text."""
        self._failed += 1
        if isinstance(error, ForetypeError):
            message = Error(work.job.request.id, error.code, str(error))
        else:
            log.error("a request failed: %s", type_and_place(error))
            message = Error(
                work.job.request.id, "internal", f"the engine failed on this request: {type(error).__name__}"
            )
        self._end(work, message)

    def _end(self, work: Work, message: EngineMessage) -> None:
        """Answer, then park the slot: what its rows record is valid, whatever happened."""
        self._scheduler.remove(work.job.key)
        del self._work[work.job.key]
        work.job.finish(message)
        sequence = work.sequence
        if sequence is not None:
            self.pair.slots.release(sequence.lease.slot)
            if work.document is not None and sequence.generation is not None:
                work.document.remember(list(sequence.tokens))


def _sampling(decoding: Decoding) -> Sampling:
    try:
        return Sampling(decoding.temperature, decoding.top_k, decoding.top_p)
    except SamplingError as error:
        raise RequestError(str(error)) from error
