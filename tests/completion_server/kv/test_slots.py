"""The book-keeping of slots, by example and against random operations."""

import random
from collections.abc import Callable

import pytest

from completion_server.kv.slots import Lease, Row, Slot, SlotTable
from completion_server.prefix import common_prefix


def fill(table: SlotTable, owner: int, tokens: list[int]) -> int:
    """Run a whole request: lease, 'compute' the rest, park. Returns how many tokens were cached."""
    lease = table.acquire(owner, tokens)
    lease.slot.target.append(tokens[lease.cached :])
    table.release(lease.slot)
    return lease.cached


def test_a_grown_prompt_computes_only_its_end() -> None:
    table = SlotTable(slots=2, capacity=100)
    assert fill(table, 1, [1, 2, 3, 4]) == 0
    assert fill(table, 2, [1, 2, 3, 4, 5]) == 4
    assert table.used == 1


def test_a_full_hit_still_computes_one_token_for_its_logits() -> None:
    table = SlotTable(slots=1, capacity=100)
    fill(table, 1, [1, 2, 3, 4])
    assert fill(table, 2, [1, 2, 3, 4]) == 3


def test_another_document_takes_an_empty_slot_first() -> None:
    table = SlotTable(slots=2, capacity=100)
    fill(table, 1, [1, 2, 3, 4])
    assert fill(table, 2, [9, 8, 7]) == 0
    assert fill(table, 3, [1, 2, 3, 4, 5]) == 4
    assert fill(table, 4, [9, 8, 7, 6]) == 3
    assert table.evictions == 0


def test_the_oldest_parked_slot_is_evicted() -> None:
    table = SlotTable(slots=2, capacity=100)
    fill(table, 1, [1, 1, 1])
    fill(table, 2, [2, 2, 2])
    fill(table, 3, [1, 1, 1, 1])  # document 1 is now the newer one
    fill(table, 4, [3, 3, 3])
    assert table.evictions == 1
    assert fill(table, 5, [1, 1, 1, 1, 1]) == 4
    assert fill(table, 6, [2, 2, 2, 2]) == 0


def test_a_short_shared_head_is_copied_rather_than_destroying_the_longer_slot() -> None:
    table = SlotTable(slots=2, capacity=100)
    fill(table, 1, [7, 7, 1, 2, 3, 4, 5, 6])
    lease = table.acquire(2, [7, 7, 9, 9])
    assert (lease.slot.index, lease.cached, lease.copy_from) == (1, 2, 0)
    assert lease.slot.target.tokens == [7, 7]
    assert table.slots[0].target.tokens == [7, 7, 1, 2, 3, 4, 5, 6]


def test_the_head_of_a_slot_at_work_can_be_copied() -> None:
    table = SlotTable(slots=2, capacity=100)
    first = table.acquire(1, [5, 6, 7, 8])
    first.slot.target.append([5, 6, 7, 8])
    second = table.acquire(2, [5, 6, 7, 9])
    assert (second.slot.index, second.cached, second.copy_from) == (1, 3, 0)


def test_the_draft_row_is_matched_by_itself() -> None:
    table = SlotTable(slots=1, capacity=100)
    lease = table.acquire(1, [1, 2, 3, 4])
    lease.slot.target.append([1, 2, 3, 4])
    lease.slot.draft.append([1, 2])
    table.release(lease.slot)
    again = table.acquire(2, [1, 2, 3, 4, 5])
    assert (again.cached, again.draft_cached) == (4, 2)


def test_rows_refuse_what_does_not_fit() -> None:
    row = Row(3, [1, 2])
    with pytest.raises(ValueError, match="do not fit"):
        row.append([3, 4])
    with pytest.raises(ValueError, match="roll"):
        row.rollback(3)


def test_no_slot_left_is_an_error_that_can_be_asked_about_first() -> None:
    table = SlotTable(slots=1, capacity=4)
    table.acquire(1, [1])
    assert not table.can_acquire()
    with pytest.raises(ValueError, match="can_acquire"):
        table.acquire(2, [1])


def test_nobody_owns_a_slot_while_the_engine_is_idle() -> None:
    table = SlotTable(slots=2, capacity=4)
    lease = table.acquire(7, [1, 2])
    table.check_integrity()
    table.check_integrity(owners=[7])
    with pytest.raises(AssertionError, match="own slots"):
        table.check_integrity(owners=())
    table.release(lease.slot)
    table.check_integrity(owners=())


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda slots: setattr(slots[1], "owner", slots[0].owner), "two slots"),
        (lambda slots: slots.reverse(), "order"),
        (lambda slots: setattr(slots[1].target, "tokens", slots[0].target.tokens), "share one list"),
        (lambda slots: slots[0].draft.tokens.extend([0] * 9), "holds"),
        (lambda slots: setattr(slots[1], "used_at", slots[0].used_at), "one order"),
        (lambda slots: setattr(slots[2], "used_at", 99), "one order"),
        (lambda slots: slots[2].target.tokens.append(1), "never leased"),
    ],
)
def test_books_that_contradict_themselves_are_found(spoil: Callable[[list[Slot]], None], what: str) -> None:
    table = SlotTable(slots=3, capacity=4)
    for owner in (1, 2):
        table.acquire(owner, [owner, 2])
    table.check_integrity()
    spoil(table.slots)
    with pytest.raises(AssertionError, match=what):
        table.check_integrity()


class Model:
    """The simplest thing that a slot table could be: what was written where, who is where, and who came last."""

    def __init__(self, slots: int) -> None:
        self.written: list[list[int]] = [[] for _ in range(slots)]  # the tensors, stale ends included
        self.valid: list[int] = [0] * slots
        self.owner: list[int | None] = [None] * slots
        self.order: list[int] = []  # of slots, the one leased last at the end
        self.evictions = 0

    def lease(self, lease: Lease, owner: int, tokens: list[int]) -> None:
        index, source = lease.slot.index, lease.slot.index if lease.copy_from is None else lease.copy_from
        assert self.owner[index] is None
        assert lease.cached < len(tokens)
        assert lease.cached <= self.valid[source]
        assert self.written[source][: lease.cached] == tokens[: lease.cached]
        longest = max(self._shared(other, tokens) for other in range(len(self.owner)))
        assert lease.cached == longest  # what is there is never computed anew
        if lease.copy_from is not None or lease.cached < self.valid[index]:
            self._may_lose(index, lease)
        self.written[index][: lease.cached] = tokens[: lease.cached]
        self.valid[index], self.owner[index] = lease.cached, owner
        self.order = [other for other in self.order if other != index] + [index]

    def _may_lose(self, index: int, lease: Lease) -> None:
        """What the slot held is given up: mostly unused anyway, or the slot is empty or the oldest one parked."""
        if lease.copy_from is None and 2 * lease.cached >= self.valid[index]:
            return
        parked = [other for other in range(len(self.owner)) if self.owner[other] is None]
        empty = [other for other in parked if not self.valid[other]]
        assert index in empty if empty else index == min(parked, key=self.order.index)

    def _shared(self, index: int, tokens: list[int]) -> int:
        return min(common_prefix(self.written[index][: self.valid[index]], tokens), len(tokens) - 1)

    def append(self, index: int, tokens: list[int]) -> None:
        end = self.valid[index]
        self.written[index][end : end + len(tokens)] = tokens
        self.valid[index] = end + len(tokens)


def test_a_hundred_thousand_random_operations_keep_the_books_straight() -> None:
    """Lease, append, roll back, park, forget: after each the table says what the model says."""
    rng = random.Random(5)
    table, model = SlotTable(slots=4, capacity=24), Model(4)
    running: dict[int, list[int]] = {}  # slot → what its owner has yet to feed
    for operation in range(100_000):
        chance = rng.random()
        if chance < 0.4 and table.can_acquire():
            tokens = [rng.randint(0, 1) for _ in range(rng.randint(1, 24))]
            lease = table.acquire(operation, tokens)
            model.lease(lease, operation, tokens)
            running[lease.slot.index] = tokens[lease.cached :]
        elif chance < 0.7 and running:
            index = rng.choice(list(running))
            part = running[index][: rng.randint(0, len(running[index]))]  # a cancel may come after any token
            table.slots[index].target.append(part)
            model.append(index, part)
            running[index] = running[index][len(part) :]
        elif chance < 0.75 and running:  # drafts that were rejected
            index = rng.choice(list(running))
            length = rng.randint(0, len(table.slots[index].target))
            running[index] = table.slots[index].target.tokens[length:] + running[index]
            table.slots[index].target.rollback(length)
            model.valid[index] = length
        elif chance < 0.9999 and running:
            index = rng.choice(list(running))
            del running[index]
            table.release(table.slots[index])
            model.owner[index] = None
        else:
            table.clear()
            model.valid = [0 if owner is None else n for n, owner in zip(model.valid, model.owner, strict=True)]
        assert [slot.owner for slot in table.slots] == model.owner
        for slot, written, valid in zip(table.slots, model.written, model.valid, strict=True):
            assert slot.target.tokens == written[:valid]
        table.check_integrity(owners=[owner for owner in model.owner if owner is not None])
    assert table.evictions > 1000
