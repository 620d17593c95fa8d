"""What a language server tells the engine of its editor: numbers and names, for the store and the metrics."""

from dataclasses import dataclass
from typing import Literal

MAX_REPORT = 256  # keys, and as many events, in one report

EventKind = Literal[
    "shown",
    "accepted",
    "partly-accepted",
    "typed-through",
    "dismissed",
    "replaced",
    "looked-30s",
    "kept-30s",
    "looked-2min",
    "kept-2min",
]


@dataclass(frozen=True, slots=True)
class FrontTimes:
    """Where the time of a key went outside the engine: milliseconds, 0 for what nobody measured.

    Processes share no clock. So nothing but durations crosses their borders, each measured by one process on its own
    monotonic clock, and a way is what the one behind it waited longer than the one in front of it worked.
    """

    key_ms: float = 0.0  # from the key until the client asked
    server_way_ms: float = 0.0  # between client and language server, there and back
    sent_ms: float = 0.0  # from the request's arrival until the engine was asked
    engine_ms: float = 0.0  # from there to the engine's last word; 0 where the client was answered before that
    trimmed_ms: float = 0.0  # from there, or from the words that were answered with, until it was cut to fit
    returned_ms: float = 0.0  # from there until the client was answered; without an engine from the arrival
    painted_ms: float = 0.0  # from the answer's arrival at the client until it was on the screen
    shown_ms: float = 0.0  # from the first of these until it was on the screen, or else the client was answered


@dataclass(frozen=True, slots=True)
class KeyReport:
    """One key that an editor asked about, as its language server answered it.

    `outcome` is a word of the language server's, `characters` are those of the answer. `suggestion_ms` runs from the
    key, or the arrival of the request, to the answer, `first_tokens_ms` to the engine's first tokens, 0 without it.
    `request` is the id of the `Complete` whose words were answered with, 0 where there were none.
    """

    outcome: str
    language: str
    characters: int
    suggestion_ms: float
    first_tokens_ms: float
    request: int = 0
    times: FrontTimes = FrontTimes()


@dataclass(frozen=True, slots=True)
class EventReport:
    """What became of a suggestion; `characters` are those that it is about: shown, taken, typed, looked for later
    (`looked-…`: what had been taken) or still there (`kept-…`).
    """

    kind: EventKind
    language: str
    characters: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a language server has seen since its last report: numbers and names, for the store and the metrics."""

    editor: str
    keys: tuple[KeyReport, ...] = ()
    events: tuple[EventReport, ...] = ()
