"""A job that the engine has taken on: the job, its sequence once it has one, and the times for its `Usage`.

Where alternatives are asked for each branch is a `Work` too, with a job that only the engine knows.
"""

from dataclasses import dataclass, field, replace

from completion_server.engine.choices import Choices
from completion_server.engine.documents import DocumentState
from completion_server.engine.job import CancelReason, Job
from completion_server.engine.sequence import Sequence
from completion_server.prompts import Prompt
from completion_server.protocol import MAX_ROUNDS, DraftCount, Round, Usage


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
    tokenize_ms: float = 0.0
    match_ms: float = 0.0
    prefill_ms: float = 0.0
    rounds: list[Round] = field(default_factory=list)
    _stage_began: float = 0.0

    @property
    def cancelled(self) -> CancelReason | None:
        """Why it is to stop before its next pass."""
        return self.job.cancelled if self.choices is None else self.choices.cancelled

    @property
    def seated(self) -> bool:
        """Whether it has a slot, and so a part in the next pass."""
        return self.sequence is not None and self.sequence.slot is not None

    def begin(self, now: float) -> None:
        """The first work on it."""
        self.began = self._stage_began = now

    def tokenized(self, now: float) -> None:
        """It has a prompt."""
        self.tokenize_ms = self._stage(now)

    def opened(self, now: float) -> None:
        """It has a slot."""
        self.match_ms = self._stage(now)

    def passed(self, now: float) -> None:
        """The pass that it was in is over."""
        took = self._stage(now)
        turn = self.sequence.turn if self.sequence else None
        if turn is None:
            self.prefill_ms += took
        elif len(self.rounds) < MAX_ROUNDS:
            self.rounds.append(Round(took, turn.width, turn.drafter, turn.drafted, turn.accepted))

    def usage(self, now: float) -> Usage:
        """What the request has cost until `now`."""
        received = self.job.received
        usage = Usage(
            queue_ms=_ms(received, self.began, now),
            first_tokens_ms=_ms(received, self.first_tokens, now),
            ttft_ms=_ms(received, self.first_text, now),
            e2e_ms=_ms(received, now, now),
            tokenize_ms=self.tokenize_ms,
            match_ms=self.match_ms,
            prefill_ms=self.prefill_ms,
            rounds=tuple(self.rounds),
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
            drafts=tuple(
                DraftCount(drafter, position, drafted, counters.accepted_at[drafter, position])
                for (drafter, position), drafted in counters.drafted_at.items()
            ),
        )

    def _stage(self, now: float) -> float:
        """The milliseconds of the stage that ends now; the next one begins."""
        took = _ms(self._stage_began, now, now)
        self._stage_began = now
        return took


def _ms(start: float, end: float | None, now: float) -> float:
    return 1e3 * max(0.0, (now if end is None else end) - start)
