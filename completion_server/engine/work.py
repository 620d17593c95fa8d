"""A job that the engine has taken on: the job, its sequence once it has one, and the times for its `Usage`."""

from dataclasses import dataclass, replace

from completion_server.engine.documents import DocumentState
from completion_server.engine.job import Job
from completion_server.engine.sequence import Sequence
from completion_server.protocol import Usage


@dataclass(slots=True, eq=False)
class Work:
    """Times are `time.perf_counter()` seconds."""

    job: Job
    sequence: Sequence | None = None
    document: DocumentState | None = None
    began: float | None = None
    first_tokens: float | None = None
    first_text: float | None = None
    sent: int = 0  # characters that went out as Delta

    @property
    def seated(self) -> bool:
        """Whether it has a slot, and so a part in the next pass."""
        return self.sequence is not None and self.sequence.slot is not None

    def usage(self, now: float) -> Usage:
        """What the request has cost until `now`."""
        received = self.job.received
        usage = Usage(
            queue_ms=_ms(received, self.began, now),
            first_tokens_ms=_ms(received, self.first_tokens, now),
            ttft_ms=_ms(received, self.first_text, now),
            e2e_ms=_ms(received, now, now),
        )
        sequence = self.sequence
        if sequence is None:
            return usage
        usage = replace(
            usage,
            prompt_tokens=len(sequence.prompt.tokens),
            cached_tokens=sequence.lease.cached,
            computed_tokens=sequence.computed,
            draft_cached_tokens=sequence.lease.draft_cached,
            draft_computed_tokens=sequence.draft_fed_tokens,
            prefill_passes=sequence.prefill_passes,
        )
        if sequence.generation is None:
            return usage
        counters = sequence.generation.counters
        return replace(
            usage,
            completion_tokens=len(sequence.generation.generated),
            drafted_tokens=counters.drafted.total(),
            accepted_tokens=counters.accepted.total(),
            drafted_by=dict(counters.drafted),
            accepted_by=dict(counters.accepted),
            target_passes=counters.passes,
        )


def _ms(start: float, end: float | None, now: float) -> float:
    return 1e3 * max(0.0, (now if end is None else end) - start)
