"""What is done next: a plan, less what was accepted instead. Pure; knows no clock and no editor."""

from collections.abc import Sequence
from dataclasses import replace

from bench.replay.actions import Accept, Action, Delete, Insert
from bench.replay.policy import Policy

_AHEAD = 400  # code points that a suggestion is compared with


class Hand:
    """Goes through `plan`. Without a `policy` it does what stands there, as for a recorded trace.

    `done` are the actions that were done, at the times they were due. An accept drops the keys that it spares and
    brings what follows forward by their time.
    """

    def __init__(self, plan: Sequence[Action], policy: Policy | None = None) -> None:
        self.done: list[Action] = []
        self._plan = list(plan)
        self._policy = policy
        self._next = 0
        self._early = 0.0  # seconds spared so far
        self._wrong = 0  # code points in front of the cursor that are still to be taken back

    @property
    def planned(self) -> int:
        return len(self._plan)

    @property
    def position(self) -> int:
        """Actions of the plan that are done or spared."""
        return self._next

    @property
    def due(self) -> float | None:
        """Seconds from the start to the next action; None behind the last."""
        return self._plan[self._next].at - self._early if self._next < len(self._plan) else None

    def act(self, suggestion: str = "", seen_ms: float = 0.0) -> Action:
        """The next action; `suggestion` is on the screen since `seen_ms`. Behind the last one an IndexError."""
        planned = self._plan[self._next]
        text = ""
        if self._policy is not None and suggestion and isinstance(planned, Insert) and not self._wrong:
            text = self._policy.taken(suggestion, self._ahead(), seen_ms)
        at = planned.at - self._early
        if text:
            action: Action = Accept(at, text)
            self._spare(text)
        else:
            action = replace(planned, at=at)
            self._next += 1
            self._count_wrong(action)
        self.done.append(action)
        return action

    def _ahead(self) -> str:
        """What the author writes next at the cursor, mistyped or not."""
        found: list[str] = []
        length = 0
        for action in self._plan[self._next :]:
            if not isinstance(action, Insert | Delete) or length > _AHEAD:
                break
            if isinstance(action, Insert) and not action.slip:
                found.append(action.text)
                length += len(action.text)
        return "".join(found)

    def _spare(self, text: str) -> None:
        """Go behind the keys that `text` stands for: a policy takes lines and words, which end where keys do."""
        began = last = self._plan[self._next].at
        left = len(text)
        while left > 0:
            planned = self._plan[self._next]
            if isinstance(planned, Insert) and not planned.slip:
                left -= len(planned.text)
            last = planned.at
            self._next += 1
        self._early += last - began

    def _count_wrong(self, action: Action) -> None:
        if isinstance(action, Insert) and action.slip:
            self._wrong += len(action.text)
        elif isinstance(action, Delete) and action.slip:
            self._wrong -= action.count
