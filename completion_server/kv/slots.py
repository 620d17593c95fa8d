"""Which tokens have their keys and values in which slot: the book-keeping, in plain integers.

A slot is a place for one sequence. It holds a `Row` for the target and one for the draft: the list of tokens whose keys
and values are valid there. Appending a token makes the list longer, rolling back makes it shorter; what lies in the
tensors behind the list's end is stale and is overwritten, so a step that was cancelled half-way needs no clean-up.

Prefix reuse follows the idea of prompt caching by longest common token prefix; unlike block-wise prefix caches (vLLM)
it reuses to the exact token, which is what typing needs. Knows nothing of tensors, devices or models.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from completion_server.prefix import common_prefix


@dataclass(slots=True)
class Row:
    """Tokens with valid keys and values, from position 0 on. `capacity` is how many fit."""

    capacity: int
    tokens: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)

    def rollback(self, length: int) -> None:
        """Forget all tokens from position `length` on."""
        if not 0 <= length <= len(self.tokens):
            raise ValueError(f"cannot roll a row of {len(self.tokens)} tokens back to {length}")
        del self.tokens[length:]

    def append(self, tokens: Sequence[int]) -> None:
        """Record that the keys and values of `tokens` were written behind the present end."""
        if len(self.tokens) + len(tokens) > self.capacity:
            raise ValueError(f"{len(self.tokens)} + {len(tokens)} tokens do not fit a row of {self.capacity}")
        self.tokens.extend(tokens)


@dataclass(slots=True)
class Slot:
    """One place for a sequence. `owner` is the request that works in it now, None while it is parked."""

    index: int
    target: Row
    draft: Row
    owner: int | None = None
    used_at: int = 0


@dataclass(frozen=True, slots=True)
class Lease:
    """A slot given to a request. `cached` target tokens are valid already.

    Where `copy_from` is not None the caller copies that slot's first `cached` (target) and `draft_cached` (draft)
    positions into `slot` before it feeds anything.
    """

    slot: Slot
    cached: int
    draft_cached: int
    copy_from: int | None = None


class SlotTable:
    """All slots of one loaded pair. Never more than one owner per slot; parked slots are evicted oldest first."""

    def __init__(self, slots: int, capacity: int, draft_capacity: int | None = None) -> None:
        """`slots` ≥ 1 places of `capacity` target tokens and `draft_capacity` draft tokens (default: the same)."""
        if slots < 1 or capacity < 1:
            raise ValueError("a slot table needs at least one slot of at least one token")
        draft_capacity = capacity if draft_capacity is None else draft_capacity
        self.slots = [Slot(i, Row(capacity), Row(draft_capacity)) for i in range(slots)]
        self.evictions = 0
        self._clock = 0

    def can_acquire(self) -> bool:
        return any(slot.owner is None for slot in self.slots)

    def acquire(self, owner: int, tokens: Sequence[int]) -> Lease:
        """Lease the parked slot that serves the prompt `tokens` best and roll it back to what it shares with it.

        At most `len(tokens) - 1` positions count as cached: one token is always computed, for its logits.
        A slot that would lose more than it gives (another document's) is not rolled back while an empty or older one
        can take a copy of the shared head. Check `can_acquire` first.
        """
        parked = [slot for slot in self.slots if slot.owner is None]
        if not parked:
            raise ValueError("every slot is owned; check can_acquire first")
        usable = max(0, len(tokens) - 1)
        shared = {slot.index: min(usable, common_prefix(slot.target.tokens, tokens)) for slot in self.slots}
        best = max(parked, key=lambda slot: (shared[slot.index], slot.used_at))
        donor = max(self.slots, key=lambda slot: shared[slot.index])
        if shared[best.index] < shared[donor.index] or 2 * shared[best.index] < len(best.target):
            lease = self._copy(donor, shared[donor.index], parked, tokens)
        else:
            draft = min(usable, common_prefix(best.draft.tokens, tokens))
            lease = Lease(best, shared[best.index], draft)
        self._take(lease, owner)
        return lease

    def release(self, slot: Slot) -> None:
        """Park the slot; what its rows hold stays valid for the next request."""
        slot.owner = None

    def drop_copy(self, slot: Slot, tokens: Sequence[int]) -> None:
        """Empty the parked `slot` where another holds all of `tokens` but the last: it is the next to be filled."""
        shared = len(tokens) - 1
        if any(other is not slot and common_prefix(other.target.tokens, tokens) >= shared for other in self.slots):
            slot.target.rollback(0)
            slot.draft.rollback(0)

    def clear(self) -> None:
        """Forget everything in parked slots."""
        for slot in self.slots:
            if slot.owner is None:
                slot.target.rollback(0)
                slot.draft.rollback(0)

    @property
    def used(self) -> int:
        return sum(1 for slot in self.slots if slot.target.tokens)

    def check_integrity(self, owners: Collection[int] | None = None) -> None:
        """Raise AssertionError where the book-keeping contradicts itself, or the owners are not `owners` (if given).

        Takes microseconds, so it runs whenever the engine is idle: then nobody may own a slot, or it would be lost.
        """
        owned = [slot.owner for slot in self.slots if slot.owner is not None]
        if len(owned) != len(set(owned)):
            raise AssertionError("a request owns two slots")
        if owners is not None and set(owned) != set(owners):
            raise AssertionError(f"requests {sorted(owned)} own slots, not {sorted(owners)}")
        if [slot.index for slot in self.slots] != list(range(len(self.slots))):
            raise AssertionError("slots are out of order")
        rows = [row for slot in self.slots for row in (slot.target, slot.draft)]
        if len({id(row.tokens) for row in rows}) != len(rows):
            raise AssertionError("two rows share one list of tokens")
        for row in rows:
            if len(row) > row.capacity:
                raise AssertionError(f"a row of {row.capacity} holds {len(row)} tokens")
        used = [slot.used_at for slot in self.slots if slot.used_at]
        if len(used) != len(set(used)) or max(used, default=0) != self._clock:
            raise AssertionError("the order of use is not one order")
        for slot in self.slots:
            if not slot.used_at and (slot.owner is not None or slot.target.tokens or slot.draft.tokens):
                raise AssertionError(f"slot {slot.index} was never leased and is not empty")
        if self.evictions > self._clock:
            raise AssertionError("more evictions than leases")

    def _copy(self, donor: Slot, cached: int, parked: list[Slot], tokens: Sequence[int]) -> Lease:
        """Lease the emptiest or oldest parked slot, to be filled with the head that `donor` shares."""
        place = min(parked, key=lambda slot: (bool(slot.target.tokens), slot.used_at))
        self.evictions += bool(place.target.tokens)
        if place is donor or cached == 0:
            draft = min(max(0, len(tokens) - 1), common_prefix(place.draft.tokens, tokens))
            return Lease(place, cached if place is donor else 0, draft)
        draft = min(max(0, len(tokens) - 1), common_prefix(donor.draft.tokens, tokens))
        return Lease(place, cached, draft, copy_from=donor.index)

    def _take(self, lease: Lease, owner: int) -> None:
        slot = lease.slot
        source = slot if lease.copy_from is None else self.slots[lease.copy_from]
        slot.target.tokens = source.target.tokens[: lease.cached]
        slot.draft.tokens = source.draft.tokens[: lease.draft_cached]
        self._clock += 1
        slot.owner = owner
        slot.used_at = self._clock
