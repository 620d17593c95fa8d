"""The book-keeping of slots, by example and against random operations."""

import random

import pytest

from completion_server.kv.slots import Row, SlotTable


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


def test_thirty_thousand_random_operations_keep_the_books_straight() -> None:
    """Every lease claims exactly the tokens that its source really had computed at those positions."""
    rng = random.Random(5)
    table = SlotTable(slots=4, capacity=24)
    memory: dict[int, list[int]] = {i: [] for i in range(4)}  # what an engine would have written, stale ends included
    owned: dict[int, tuple[int, list[int]]] = {}
    for owner in range(30_000):
        if owned and (not table.can_acquire() or rng.random() < 0.5):
            index, rest = owned.pop(rng.choice(list(owned)))
            slot = table.slots[index]
            done = rest[: rng.randint(0, len(rest))]  # a cancel may come after any token
            memory[index][len(slot.target) : len(slot.target) + len(done)] = done
            slot.target.append(done)
            table.release(slot)
        else:
            tokens = [rng.randint(0, 1) for _ in range(rng.randint(1, 24))]
            lease = table.acquire(owner, tokens)
            assert lease.cached < len(tokens)
            source = lease.slot.index if lease.copy_from is None else lease.copy_from
            assert memory[source][: lease.cached] == tokens[: lease.cached] == lease.slot.target.tokens
            memory[lease.slot.index][: lease.cached] = tokens[: lease.cached]
            owned[owner] = (lease.slot.index, tokens[lease.cached :])
        table.check_integrity()
