"""The messages between a front end and the engine: frozen dataclasses, nothing else.

A connection begins with `Hello` from the client and `Welcome` from the engine. After that the client sends
requests, each with an `id` that it chose and has not used before on this connection, and the engine answers every
one of them with exactly one last reply:

    Complete  →  Delta* then one of Result | Cancelled | Error
    Warm      →  Warmed | Cancelled | Error
    Status    →  StatusReply | Error
    UsePair   →  PairInUse | Cancelled | Error
    Shutdown  →  Goodbye | Error

`Cancel`, `CloseDocument` and `Report` ask for nothing back (the cancelled request itself is answered). `State` comes
unasked, to every client, whenever the engine starts loading, is ready, fails or unloads. A `Warm` or `Complete` on an
unloaded engine loads it again. While another pair is loaded beside the one in use the phase stays "ready", with the
progress in `detail` and `fraction`: requests are answered all the time. An `Error` has id 0 where the frame had no id
that could be read, or one that is in use.

Lengths of text are code points, times are milliseconds. Knows nothing of bytes, sockets, models or LSP.
"""

from dataclasses import dataclass, field
from typing import Literal

from completion_server.protocol.reports import Report
from completion_server.protocol.usage import Trace, Usage

PROTOCOL_VERSION = 3

MAX_BEFORE = 98_304  # code points: what a client may send of the text before the cursor
MAX_AFTER = 16_384  # code points: of the text behind it
MAX_SNIPPETS = 16
MAX_SNIPPET = 8_192  # code points in one snippet
MAX_NEW_TOKENS = 1_024
MAX_ALTERNATIVES = 3  # suggestions in one reply, the first one counted

EnginePhase = Literal["starting", "loading", "ready", "failed", "unloaded", "stopping"]
FinishReason = Literal["end-of-text", "end-of-line", "end-of-block", "loop", "length"]


# -- from the client ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hello:
    """First frame of a connection; an engine that speaks another `protocol` answers `Error` and hangs up."""

    protocol: int
    client: str  # a name for logs and status: "lsp", "try", "bench"
    version: str
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text of another file that is worth having in the prompt."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """Where the cursor is.

    `before` is the document from a start that the client moves rarely (the engine keeps keys and values of what stays
    equal at its head) up to the cursor; `after` begins at the cursor.
    """

    document: str  # opaque key, one per document and client; a newer request for it supersedes the older one
    version: int
    before: str
    after: str
    language: str = ""  # LSP language id
    path: str = ""  # relative to the workspace, for the path line of repository prompts
    snippets: tuple[Snippet, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a suggestion ends at the latest. `max_lines` = 1 asks for the rest of the line.

    With `one_statement` it ends with the statement that the cursor is in, if that opens no block.
    """

    max_tokens: int = 96
    max_lines: int = 12
    one_statement: bool = False


@dataclass(frozen=True, slots=True)
class Decoding:
    """How tokens are chosen. Temperature 0 is greedy; `drafting` = False is the target alone (same text, slower).

    `healing` = False lets the prompt end where the text does, even inside a word.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    drafting: bool = True
    healing: bool = True


@dataclass(frozen=True, slots=True)
class Complete:
    """Ask for a suggestion at the cursor of `context`.

    With `alternatives` > 1 others that differ are sampled beside it, from the same prompt. `raw` asks for the plain
    continuation, as far as limits and stop tokens let it go: no rule about where a suggestion ends is applied.
    """

    id: int
    context: Context
    limits: Limits = field(default_factory=Limits)
    decoding: Decoding = field(default_factory=Decoding)
    stream: bool = False
    alternatives: int = 1
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Warm:
    """Prefill the prompt of `context` at the lowest priority; any `Complete` of the same client cancels it."""

    id: int
    context: Context


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop working on request `id`. Unknown or finished ids are ignored."""

    id: int


@dataclass(frozen=True, slots=True)
class CloseDocument:
    """The document was closed: drop its prompt state. Its keys and values stay until their slot is needed."""

    document: str


@dataclass(frozen=True, slots=True)
class Status:
    """Ask what runs, and for traces of the `last` so many answered requests."""

    id: int
    last: int = 0


@dataclass(frozen=True, slots=True)
class UsePair:
    """Load the pair called `name` and answer with it from then on. Answered once that is so; it cannot be cancelled.

    Until then the pair in use answers all requests, or they wait where there is no room for both pairs.
    """

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Ask the engine process to end; running requests are cancelled and answered first."""

    id: int


# -- from the engine ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class State:
    """What the engine is doing; `fraction` in 0..1 while loading, `detail` is one line for a person.

    Phase "ready" with a `fraction`: another pair is being loaded beside `pair`.
    """

    phase: EnginePhase
    pair: str
    detail: str = ""
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Welcome:
    protocol: int
    version: str
    pid: int
    state: State


@dataclass(frozen=True, slots=True)
class TokenScore:
    """How sure the target was of one token: the natural logarithm of its probability, before any temperature.

    Once the token is written the text is `end` code points long. A character that takes several tokens has one score,
    the sum of theirs. Where token healing is at work, the probability is among the tokens that it allows.
    """

    end: int
    logprob: float


@dataclass(frozen=True, slots=True)
class Delta:
    """Text that was verified since the last `Delta`; only with `stream`. Append-only, before trimming.

    `scores` are those of all text so far, as in a `Result`: a front end decides by them whether to show any of it.
    """

    id: int
    text: str
    scores: tuple[TokenScore, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another suggestion for the same place, with its scores."""

    text: str
    finish: FinishReason
    scores: tuple[TokenScore, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The whole suggestion as the model wrote it up to where it ends; the front end trims it against the live text.

    It is all `Delta`s together, or shorter: a loop, or a last line that the limit cut off, is seen only at the end.
    `scores` cover exactly `text`. `alternatives` differ from it and from each other; there may be fewer than were asked
    for. `usage` counts them all.
    """

    id: int
    text: str
    finish: FinishReason
    usage: Usage
    scores: tuple[TokenScore, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True)
class Warmed:
    id: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Last reply of a request that was cancelled or superseded. `usage` is what it had cost until then."""

    id: int
    reason: Literal["client", "superseded", "shutdown"]
    usage: Usage


@dataclass(frozen=True, slots=True)
class Error:
    """Last reply of a request that failed."""

    id: int
    code: str  # errors.ForetypeError.code
    message: str


@dataclass(frozen=True, slots=True)
class StatusReply:
    """What runs: for `foretype status`. No user text, no paths of documents."""

    id: int
    pid: int
    version: str
    uptime_s: float
    state: State
    device: str
    dtype: str
    target: str
    draft: str | None
    drafters: tuple[str, ...]
    clients: int
    running: int
    queued: int
    slots_used: int
    slots_total: int
    kv_bytes: int
    kv_budget_bytes: int
    completed: int
    cancelled: int
    failed: int
    wasted_tokens: int
    notes: tuple[str, ...] = ()  # warnings that a person should see, e.g. a model without fill-in-the-middle tokens
    traces: tuple[Trace, ...] = ()  # the newest last


@dataclass(frozen=True, slots=True)
class PairInUse:
    """`pair` answers from now on. For `pause_ms` no request could be answered; 0 where it was in use before."""

    id: int
    pair: str
    pause_ms: float


@dataclass(frozen=True, slots=True)
class Goodbye:
    id: int


ClientMessage = Hello | Complete | Warm | Cancel | CloseDocument | Report | Status | UsePair | Shutdown
EngineMessage = Welcome | State | Delta | Result | Warmed | Cancelled | Error | StatusReply | PairInUse | Goodbye
Message = ClientMessage | EngineMessage
