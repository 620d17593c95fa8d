"""What is kept of one request, one key and one event: numbers and names, never text.

The words are those of docs/numbers.md. A record is a row; its fields are the columns of its table, in order. Knows
nothing of SQL.
"""

from dataclasses import dataclass
from typing import Literal

from completion_server.protocol import EventKind

RequestOutcome = Literal["completed", "client", "superseded", "shutdown", "failed", "refused"]
"""`client`, `superseded` and `shutdown` are the reasons of a cancelled one."""


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request as the engine saw it. `time` is Unix seconds when it ended; token counts as in `protocol.Usage`."""

    time: float
    client: str
    pair: str
    language: str
    outcome: RequestOutcome
    prompt_tokens: int = 0
    cached_tokens: int = 0
    computed_tokens: int = 0
    completion_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    target_passes: int = 0
    queue_ms: float = 0.0
    first_tokens_ms: float = 0.0
    ttft_ms: float = 0.0
    e2e_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """One key that an editor asked about, as its language server answered it.

    `outcome` is `completor.Outcome`; `characters` of the answer, 0 for none. `suggestion_ms` runs from the request's
    arrival (from the key, where the client says when that was) to the answer, `first_tokens_ms` is the engine's share
    until it had any. Those behind them are the stages outside the engine, as in `protocol.FrontTimes`.
    """

    time: float
    editor: str
    pair: str
    language: str
    outcome: str
    characters: int = 0
    suggestion_ms: float = 0.0
    first_tokens_ms: float = 0.0
    key_ms: float = 0.0
    server_way_ms: float = 0.0
    sent_ms: float = 0.0
    engine_way_ms: float = 0.0
    trimmed_ms: float = 0.0
    returned_ms: float = 0.0
    painted_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class EventRecord:
    """What became of a suggestion; `characters` as in `protocol.EventReport`."""

    time: float
    editor: str
    pair: str
    language: str
    kind: EventKind
    characters: int = 0


@dataclass(frozen=True, slots=True)
class DraftRecord:
    """How often one drafter was right at one position of a draft (0 is the first), in one request."""

    time: float
    pair: str
    language: str
    drafter: str
    position: int
    drafted: int
    accepted: int


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """Where the time of one slow request went: `stages` is JSON, `[["queued", 1.5], …]`, in order, milliseconds.

    `time` names it: a later record of the same time takes its place. `shown_ms` as in `protocol.Trace`.
    """

    time: float
    pair: str
    language: str
    total_ms: float
    stages: str
    shown_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class PassRecord:
    """One pass of the target that gave tokens, `width` wide; `ms` as in `protocol.Round`. For metrics: it is no row.

    `first`: it gave its request's first tokens; `ms` of a later one is the time between tokens.
    """

    time: float
    pair: str
    width: int
    ms: float
    first: bool


Record = RequestRecord | KeyRecord | EventRecord | DraftRecord | TraceRecord | PassRecord
