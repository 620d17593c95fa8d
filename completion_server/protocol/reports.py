"""What a language server tells the engine of its editor: numbers and names, for the store and the metrics."""

from dataclasses import dataclass
from typing import Literal

MAX_REPORT = 256  # keys, and as many events, in one report

EventKind = Literal[
    "shown", "accepted", "partly-accepted", "typed-through", "dismissed", "replaced", "kept-30s", "kept-2min"
]


@dataclass(frozen=True, slots=True)
class KeyReport:
    """One key that an editor asked about, as its language server answered it.

    `outcome` is a word of the language server's, `characters` are those of the answer. `suggestion_ms` runs from the
    key, or the arrival of the request, to the answer, `first_tokens_ms` to the engine's first tokens, 0 without it.
    """

    outcome: str
    language: str
    characters: int
    suggestion_ms: float
    first_tokens_ms: float


@dataclass(frozen=True, slots=True)
class EventReport:
    """What became of a suggestion; `characters` are those that it is about: shown, taken, typed or still there."""

    kind: EventKind
    language: str
    characters: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a language server has seen since its last report: numbers and names, for the store and the metrics."""

    editor: str
    keys: tuple[KeyReport, ...] = ()
    events: tuple[EventReport, ...] = ()
