"""Keys that nobody waited for, and how long each waited for a suggestion all the same. Pure.

Who types on supersedes: a key has waited until there was an answer to it or to a later one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.keystrokes import Keystroke

UNANSWERED = ("superseded", "stale", "cancelled")


@dataclass(frozen=True, slots=True)
class Press:
    """`at`: seconds of one clock when the key was pressed. `phase`: of the bench, by name."""

    stroke: Keystroke
    at: float
    phase: str = ""

    @property
    def replied(self) -> float:
        return self.at + self.stroke.key_ms / 1e3

    @property
    def answered(self) -> bool:
        return self.stroke.outcome not in UNANSWERED


@dataclass(frozen=True, slots=True)
class Wait:
    """`by`: the press whose answer ended the wait of `press`. Milliseconds run from `press`."""

    press: Press
    by: Press

    @property
    def whole_ms(self) -> float:
        return 1e3 * (self.by.replied - self.press.at)

    @property
    def first_ms(self) -> float:
        return 1e3 * (self.by.at - self.press.at) + self.by.stroke.first_ms


def waits(presses: Sequence[Press]) -> list[Wait]:
    """For each press, in order; without those that no answer came after."""
    found: list[Wait] = []
    soonest: Press | None = None
    for press in reversed(presses):
        if press.answered and (soonest is None or press.replied <= soonest.replied):
            soonest = press
        if soonest is not None:
            found.append(Wait(press, soonest))
    return found[::-1]
