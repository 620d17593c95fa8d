"""Who is in the next pass, and who gets a slot: fair shares, in plain integers.

*A pass* takes every request that feeds little (a key and its drafts), so that nobody's typing waits for another's.
Beside them goes at most one chunk's worth of the prompts that are still long, and that not in every pass: a chunk costs
about as much as `SPACING` narrow passes, so whoever types and whoever opened a cold file get half of the time each, and
a suggestion that takes a few passes waits for one chunk at most. Warm-ups run when no request has anything to compute.
What a request wants beside its first suggestion (*extra* rows) comes behind the first of everybody.

*Turns* are the clients': the one that was served longest ago comes first, whatever it has waiting, and of its requests
the newest, since an older one is for a document that is not being typed in.

What a request feeds never depends on the others, only in which pass it does: a prompt is cut into the same chunks as if
it were alone. Knows nothing of tokens, models or time.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

SPACING = 4  # narrow passes between two that carry a chunk


@dataclass(frozen=True, slots=True)
class Entry:
    """A request that has work left. `arrival` counts requests in the order in which they came."""

    key: int
    client: int
    background: bool
    arrival: int
    extra: bool = False


@dataclass(slots=True)
class Turns:
    """When a client was last served, counted in turns; narrow passes do not use up its turn for a chunk."""

    narrow: int
    wide: int


class Scheduler:
    """Keeps the entries and picks those of one pass after another. `chunk` is the most prompt tokens of a pass."""

    def __init__(self, chunk: int) -> None:
        self._chunk = chunk
        self._entries: dict[int, Entry] = {}
        self._clients: dict[int, Turns] = {}
        self._arrivals = 0
        self._turn = 0
        self._since_chunk = SPACING

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, key: int, client: int, background: bool = False, extra: bool = False) -> None:
        """Enter request `key` of `client`; `background` for warm-ups, `extra` for a further row of a request.

        Raises ValueError if it is there already.
        """
        if key in self._entries:
            raise ValueError(f"request {key} is scheduled already")
        self._arrivals += 1
        self._entries[key] = Entry(key, client, background, self._arrivals, extra)
        if client not in self._clients:  # behind those that wait: coming and going must not win turns
            self._turn += 1
            self._clients[client] = Turns(self._turn, self._turn)

    def remove(self, key: int, heir: int | None = None) -> None:
        """The request has nothing left to compute. Unknown keys are ignored.

        `heir` is an extra row of the same request: where `key` was the one that is not extra, it is that from now on.
        """
        entry = self._entries.pop(key, None)
        if entry and heir is not None and not entry.extra:
            self._entries[heir] = replace(self._entries[heir], extra=False)
        if entry and all(other.client != entry.client for other in self._entries.values()):
            del self._clients[entry.client]

    def rows(self, pending: Mapping[int, int]) -> list[int]:
        """The requests of the next pass, in order of turns.

        `pending` are those that have a slot, each with the tokens that it has yet to feed (drafts not counted, at
        least 1); one with more than a quarter of a chunk counts as a long prompt and feeds a chunk of it at a time.
        """
        requests = {key: left for key, left in pending.items() if not self._entries[key].background}
        if not requests:
            return self._served(self._within_chunk(self._turns(pending, wide=True), pending), wide=True)
        narrow = {key: left for key, left in requests.items() if left <= self._chunk // 4}
        firsts = [key for key in narrow if not self._entries[key].extra]
        in_turn = [*self._turns(firsts, wide=False), *self._turns(narrow.keys() - set(firsts), wide=False)]
        rows = self._served(self._within_chunk(in_turn, narrow), wide=False)
        long = requests.keys() - narrow.keys()
        if long and (not rows or self._since_chunk >= SPACING):
            self._since_chunk = 0
            rows += self._served(self._within_chunk(self._turns(long, wide=True), pending), wide=True)
        else:
            self._since_chunk += 1
        return rows

    def waiting(self, seated: Collection[int]) -> list[int]:
        """Who has no slot yet, in the order in which slots are given: requests first, then clients with few slots.

        Among equal clients the one whose oldest request came first; within a client the newest.
        """
        entries = [entry for entry in self._entries.values() if entry.key not in seated]
        held = self._held(seated)
        oldest: dict[int, int] = {}
        for entry in entries:
            oldest.setdefault(entry.client, entry.arrival)
        entries.sort(key=lambda e: (e.background, e.extra, held[e.client], oldest[e.client], -e.arrival))
        return [entry.key for entry in entries]

    def gives_way(self, key: int, seated: Collection[int]) -> int | None:
        """Which of `seated` leaves its slot to request `key` where all are taken; None: it waits.

        A warm-up does, to any request, and an extra row to any that is not; otherwise the oldest of the client that
        holds at least two slots more, or an older one of the same client. So a slot never goes back and forth.
        """
        entry = self._entries[key]
        if entry.background:
            return None
        others = sorted((self._entries[other] for other in seated), key=lambda other: other.arrival)
        held = self._held(seated)
        most = max(held.values(), default=0)
        lesser = [other for other in others if other.background] + [other for other in others if other.extra]
        if entry.extra:
            lesser = [other for other in lesser if other.background]
        if lesser or entry.extra:
            return lesser[0].key if lesser else None
        for other in others:
            if held[other.client] == most >= held[entry.client] + 2:
                return other.key
        return next((o.key for o in others if o.client == entry.client and o.arrival < entry.arrival), None)

    def _held(self, seated: Iterable[int]) -> Counter[int]:
        return Counter(self._entries[key].client for key in seated if not self._entries[key].extra)

    def _turns(self, keys: Iterable[int], *, wide: bool) -> Iterator[int]:
        """`keys` in the order of turns, as if each were served when it is taken."""
        waiting: dict[int, list[int]] = {}
        for entry in sorted((self._entries[key] for key in keys), key=lambda entry: entry.arrival):
            waiting.setdefault(entry.client, []).append(entry.key)  # the newest at the end
        clients = sorted(waiting, key=lambda c: self._clients[c].wide if wide else self._clients[c].narrow)
        while clients:
            for client in clients:
                yield waiting[client].pop()
            clients = [client for client in clients if waiting[client]]

    def _within_chunk(self, keys: Iterable[int], pending: Mapping[int, int]) -> list[int]:
        """The head of `keys` that together feeds a chunk at most, but always the first."""
        chosen: list[int] = []
        total = 0
        for key in keys:
            total += min(pending[key], self._chunk)
            if chosen and total > self._chunk:
                break
            chosen.append(key)
        return chosen

    def _served(self, keys: list[int], *, wide: bool) -> list[int]:
        for key in keys:
            self._turn += 1
            turns = self._clients[self._entries[key].client]
            if wide:
                turns.wide = self._turn
            else:
                turns.narrow = self._turn
        return keys
