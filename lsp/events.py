"""What becomes of one suggestion: shown, taken, typed, dismissed. A state machine without a clock or a client.

Counts what a person does, once, however often and in whatever order a client tells it. Times are seconds of any clock,
lengths are code points. Knows no text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

SHOWN_AFTER = 0.2  # seconds; what is gone earlier was hardly seen

Kind = Literal[
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


_LATER: Mapping[str, tuple[Kind, Kind]] = MappingProxyType(
    {"30s": ("looked-30s", "kept-30s"), "2min": ("looked-2min", "kept-2min")}
)


@dataclass(frozen=True, slots=True)
class Event:
    """`characters` are those that it is about: shown, taken, typed by hand, sent away, looked for after a
    while, or still there.

    Each kind comes at most once for a suggestion. What was taken in parts or typed is told when the suggestion is over;
    accepted and partly accepted exclude each other.
    """

    id: str
    kind: Kind
    characters: int
    language: str


class Listener(Protocol):
    """Who wants to hear of events: totals, a store."""

    def happened(self, event: Event) -> None: ...


class Fate:
    """Of the suggestion `id`, in a document of `language`. Each call returns the events that it brings about."""

    def __init__(self, id: str, language: str) -> None:  # noqa: A002
        self.id = id
        self.length = 0  # of all of it, from where it began
        self.reached = 0  # how far it was taken or typed
        self.typed = 0  # by hand
        self.over = False
        self._language = language
        self._since: float | None = None  # when it was painted, while it is
        self._seen = False

    @property
    def taken(self) -> int:
        """Characters that a person accepted, whole or in parts."""
        return max(0, self.reached - self.typed)

    def show(self, now: float) -> None:
        if self._since is None and not self.over:
            self._since = now

    def hide(self, now: float) -> list[Event]:
        """It is gone, and may come back."""
        events = self.settle(now)
        self._since = None
        return events

    def settle(self, now: float) -> list[Event]:
        """Time has passed."""
        long_enough = self._since is not None and now - self._since >= SHOWN_AFTER
        return self._see() if long_enough and not self.over else []

    def take(self, now: float, reached: int) -> list[Event]:
        """Accepted up to `reached`, what was typed in between counted in."""
        if self.over:
            return []
        self.reached = max(self.reached, min(reached, self.length))
        return self.settle(now) or self._see()

    def type(self, now: float, typed: int) -> list[Event]:
        """Characters typed by hand so far. One that was typed to its end is over."""
        if self.over or typed <= self.typed:
            return []
        self.reached = min(self.length, self.reached + typed - self.typed)
        self.typed = min(typed, self.length)
        events = self.settle(now)
        return events + self.end(now) if self.reached >= self.length else events

    def accept(self, now: float) -> list[Event]:
        """All that was left of it was taken."""
        if self.over:
            return []
        events = self.take(now, self.length)
        self.over = True
        return [*events, self._event("accepted", self.taken), *self._typed_through()]

    def end(self, now: float, how: Literal["dismissed", "replaced"] | None = None) -> list[Event]:
        """It does not come back. One that was never really seen ends without a word."""
        events = self.settle(now)
        if self.over or not self._seen:
            self.over = True
            return events
        self.over = True
        if self.taken:
            events.append(self._event("partly-accepted", self.taken))
        elif how is not None and not self.typed:
            events.append(self._event(how, self.length))
        return events + self._typed_through()

    def kept(self, age: Literal["30s", "2min"], characters: int) -> list[Event]:
        """What had been taken was looked for after that time, and so much of it was still there."""
        looked, kept = _LATER[age]
        return [self._event(looked, self.taken), self._event(kept, min(characters, self.taken))]

    def _see(self) -> list[Event]:
        if self._seen:
            return []
        self._seen = True
        return [self._event("shown", self.length)]

    def _typed_through(self) -> list[Event]:
        return [self._event("typed-through", self.typed)] if self.typed else []

    def _event(self, kind: Kind, characters: int) -> Event:
        return Event(self.id, kind, characters, self._language)
