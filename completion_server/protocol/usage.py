"""What one request cost and where its time went: counters and milliseconds, in replies and in traces."""

from dataclasses import dataclass, field

MAX_ROUNDS = 64  # of one request that are told of
MAX_TRACES = 100  # that are remembered


@dataclass(frozen=True, slots=True)
class Round:
    """One pass of the target that gave tokens: `width` were fed, `drafted` of them drafted, `accepted` of those right.

    `drafter` began the draft, "" without one. `ms` runs from the end of the stage before: what others fed into the same
    pass, and drafting, are in it.
    """

    ms: float
    width: int
    drafter: str
    drafted: int
    accepted: int


@dataclass(frozen=True, slots=True)
class DraftCount:
    """How often `drafter` was asked for the token at `position` of a draft (from 0), and how often it was right."""

    drafter: str
    position: int
    drafted: int
    accepted: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Counters and times of one request. Token counts are the target's; the draft model's begin with `draft_`.

    In a `Result`, `cached_tokens + computed_tokens == prompt_tokens`. `target_passes` are those that gave tokens,
    `prefill_passes` those that only fed the prompt. Times start when the frame was received: `first_tokens_ms` runs to
    the first pass that committed tokens, `ttft_ms` to the first text (white space at a line end is held back).
    From the end of `queue_ms` on, `tokenize_ms` is for encoding the text, `match_ms` for finding the slot that shares
    the longest prefix, `prefill_ms` for the passes that only fed. `rounds` are the first `MAX_ROUNDS`.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    computed_tokens: int = 0
    draft_cached_tokens: int = 0
    draft_computed_tokens: int = 0
    completion_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    drafted_by: dict[str, int] = field(default_factory=dict)
    accepted_by: dict[str, int] = field(default_factory=dict)
    target_passes: int = 0
    prefill_passes: int = 0
    queue_ms: float = 0.0
    tokenize_ms: float = 0.0
    match_ms: float = 0.0
    prefill_ms: float = 0.0
    first_tokens_ms: float = 0.0
    ttft_ms: float = 0.0
    e2e_ms: float = 0.0
    rounds: tuple[Round, ...] = ()
    drafts: tuple[DraftCount, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the time of one request."""

    name: str
    ms: float


@dataclass(frozen=True, slots=True)
class Trace:
    """Where the time of one answered request went; `stages` follow one another and make up `total_ms`.

    `shown_ms` runs from the beginning until a person could see something, 0 where nothing was shown or nobody said so.
    It is less than the total where the head of a suggestion was shown while the engine went on.
    """

    age_s: float
    client: str
    language: str
    outcome: str
    total_ms: float
    stages: tuple[Stage, ...]
    shown_ms: float = 0.0
