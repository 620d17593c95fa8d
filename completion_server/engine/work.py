"""A job that the engine has taken on: the job, its sequence once it has one, and the times for its `Usage`.

Where alternatives are asked for each branch is a `Work` too, with a job that only the engine knows.
"""

from dataclasses import dataclass, replace

from completion_server.engine.choices import Choices
from completion_server.engine.documents import DocumentState
from completion_server.engine.job import CancelReason, Job
from completion_server.engine.sequence import Sequence
from completion_server.prompts import Prompt
from completion_server.protocol import Usage


@dataclass(slots=True, eq=False)
class Work:
    """Times are `time.perf_counter()` seconds. `branch` is None for the suggestion itself, `prompt` is a branch's."""

    job: Job
    choices: Choices | None = None
    branch: int | None = None
    prompt: Prompt | None = None
    sequence: Sequence | None = None
    document: DocumentState | None = None
    began: float | None = None
    first_tokens: float | None = None
    first_text: float | None = None
    sent: int = 0  # characters that went out as Delta

    @property
    def cancelled(self) -> CancelReason | None:
        """Why it is to stop before its next pass."""
        return self.job.cancelled if self.choices is None else self.choices.cancelled

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
