"""Whose turn it is: fair shares of passes, in plain integers.

Every pass goes to one entry. Requests come before warm-ups; among requests the client that had a pass longest ago
comes first, so nobody's typing waits for more than one pass (a prefill chunk at most) of another's; within a client
the newest request comes first, since an older one is for a document that is not being typed in. Knows nothing of
tokens, models or time.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class Entry:
    """A request that has work left. `arrival` counts requests in the order in which they came."""

    key: int
    client: int
    background: bool
    arrival: int
    last_turn: int = 0


class Scheduler:
    """Keeps the entries and picks one per pass."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self._client_turns: dict[int, int] = {}
        self._arrivals = 0
        self._turn = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, key: int, client: int, background: bool = False) -> None:
        """Enter request `key` of `client`; `background` for warm-ups. Raises ValueError if it is there already."""
        if key in self._entries:
            raise ValueError(f"request {key} is scheduled already")
        self._arrivals += 1
        self._entries[key] = Entry(key, client, background, self._arrivals)

    def remove(self, key: int) -> None:
        """The request has nothing left to compute. Unknown keys are ignored."""
        entry = self._entries.pop(key, None)
        if entry and all(other.client != entry.client for other in self._entries.values()):
            self._client_turns.pop(entry.client, None)

    def next(self, blocked: frozenset[int] = frozenset()) -> int | None:
        """The request that gets the next pass, None if there is none but `blocked` ones (no slot is free for them)."""
        candidates = [entry for entry in self._entries.values() if entry.key not in blocked]
        if not candidates:
            return None
        chosen = min(candidates, key=self._rank)
        self._turn += 1
        chosen.last_turn = self._turn
        self._client_turns[chosen.client] = self._turn
        return chosen.key

    def _rank(self, entry: Entry) -> tuple[bool, int, int, int]:
        return (entry.background, self._client_turns.get(entry.client, 0), entry.last_turn, -entry.arrival)
