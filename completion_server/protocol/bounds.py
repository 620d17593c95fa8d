"""How long and how large each field of a message may be: what the type hints cannot say.

A table of plain numbers, read by the codec on both sides. Text is counted in code points, tuples and dicts in entries.
Knows nothing of bytes.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, Final

from completion_server.protocol.messages import (
    MAX_AFTER,
    MAX_ALTERNATIVES,
    MAX_BEFORE,
    MAX_NEW_TOKENS,
    MAX_SNIPPET,
    MAX_SNIPPETS,
    Alternative,
    Cancel,
    Cancelled,
    CloseDocument,
    Complete,
    Context,
    Decoding,
    Delta,
    Error,
    Goodbye,
    Hello,
    Limits,
    PairInUse,
    Result,
    Shutdown,
    Snippet,
    State,
    Status,
    StatusReply,
    TokenScore,
    UsePair,
    Warm,
    Warmed,
)
from completion_server.protocol.reports import MAX_REPORT, FrontTimes, KeyReport, Report
from completion_server.protocol.usage import MAX_ROUNDS, MAX_TRACES, Trace, Usage

MAX_PATH: Final = 2_048
MAX_SNIPPET_PATH: Final = 512  # sixteen of them, in four-byte characters, still fit into a frame beside their texts
MAX_LINE: Final = 4_096  # a sentence for a person
MAX_SUGGESTION: Final = 128 * MAX_NEW_TOKENS  # no vocabulary that we know has a token of more than 128 code points


@dataclass(frozen=True, slots=True)
class Bound:
    """Both ends belong to what is allowed."""

    low: float
    high: float


_LARGEST: Final = 2**53 - 1  # what every language's numbers hold exactly
_SCORES: Final = Bound(0, 2 * MAX_NEW_TOKENS)  # tokens that healing took off are not counted in the limit
_SPAN: Final = Bound(0, 86_400_000)  # milliseconds: no key takes a day
_REQUEST_ID: Final = Bound(1, _LARGEST)  # 0 means "no id" in an `Error`

NUMBER: Final = Bound(0, _LARGEST)
"""An int that the table does not name: a counter."""

AMOUNT: Final = Bound(0, math.inf)
"""A float that the table does not name: a time. Infinity itself is refused before."""

TEXT: Final = Bound(0, 256)
"""A text that the table does not name: a name."""

ENTRIES: Final = Bound(0, 64)
"""A tuple or dict that the table does not name."""

_WITH_ID: Final = (
    Complete, Warm, Cancel, Status, UsePair, Shutdown,
    Delta, Result, Warmed, Cancelled, StatusReply, PairInUse, Goodbye,
)  # fmt: skip

_TABLE: Final[dict[tuple[type[Any], str], Bound]] = {
    **{(request, "id"): _REQUEST_ID for request in _WITH_ID},
    (Hello, "client"): Bound(1, 64),
    (Hello, "version"): Bound(0, 64),
    (UsePair, "name"): Bound(1, 256),
    (Snippet, "path"): Bound(0, MAX_SNIPPET_PATH),
    (Snippet, "text"): Bound(0, MAX_SNIPPET),
    (Context, "document"): Bound(0, MAX_PATH),
    (Context, "version"): Bound(-_LARGEST, _LARGEST),
    (Context, "before"): Bound(0, MAX_BEFORE),
    (Context, "after"): Bound(0, MAX_AFTER),
    (Context, "path"): Bound(0, MAX_PATH),
    (Context, "snippets"): Bound(0, MAX_SNIPPETS),
    (Limits, "max_tokens"): Bound(1, MAX_NEW_TOKENS),
    (Limits, "max_lines"): Bound(1, MAX_NEW_TOKENS),
    (Decoding, "temperature"): Bound(0, 100),
    (Decoding, "top_p"): Bound(0, 1),
    (Complete, "alternatives"): Bound(1, MAX_ALTERNATIVES),
    (CloseDocument, "document"): Bound(0, MAX_PATH),
    (Usage, "rounds"): Bound(0, MAX_ROUNDS),
    (Usage, "drafts"): Bound(0, MAX_ROUNDS),
    **{(FrontTimes, field.name): _SPAN for field in fields(FrontTimes)},
    (KeyReport, "suggestion_ms"): _SPAN,
    (KeyReport, "first_tokens_ms"): _SPAN,
    (Report, "keys"): Bound(0, MAX_REPORT),
    (Report, "events"): Bound(0, MAX_REPORT),
    (State, "detail"): Bound(0, MAX_LINE),
    (State, "fraction"): Bound(0, 1),
    (Delta, "text"): Bound(0, MAX_SUGGESTION),
    (Delta, "scores"): _SCORES,
    (TokenScore, "logprob"): Bound(-math.inf, 0),
    (Alternative, "text"): Bound(0, MAX_SUGGESTION),
    (Alternative, "scores"): _SCORES,
    (Result, "text"): Bound(0, MAX_SUGGESTION),
    (Result, "scores"): _SCORES,
    (Result, "alternatives"): Bound(0, MAX_ALTERNATIVES - 1),
    (Error, "message"): Bound(0, MAX_LINE),
    (Status, "last"): Bound(0, MAX_TRACES),
    (StatusReply, "traces"): Bound(0, MAX_TRACES),
    (Trace, "stages"): Bound(0, MAX_ROUNDS + 12),
    (StatusReply, "target"): Bound(0, MAX_PATH),
    (StatusReply, "draft"): Bound(0, MAX_PATH),
}


def bound_of(record: type[Any], field: str) -> Bound | None:
    """The bound of one field, or None where the default of its kind holds."""
    return _TABLE.get((record, field))
