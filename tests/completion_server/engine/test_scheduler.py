"""Fair turns, with examples small enough to follow by hand."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.engine.scheduler import Scheduler


def turns(scheduler: Scheduler, count: int) -> list[int | None]:
    return list(islice(iter(scheduler.next, object()), count))


def test_two_clients_take_turns_however_many_requests_one_has() -> None:
    scheduler = Scheduler()
    for key in (1, 2, 3):
        scheduler.add(key, client=10)
    scheduler.add(4, client=20)
    assert turns(scheduler, 6) == [4, 3, 4, 2, 4, 1]


def test_a_new_key_waits_for_one_pass_at_most() -> None:
    scheduler = Scheduler()
    scheduler.add(1, client=10)
    assert turns(scheduler, 3) == [1, 1, 1]
    scheduler.add(2, client=20)
    assert scheduler.next() == 2


def test_warm_ups_run_only_when_nothing_else_does() -> None:
    scheduler = Scheduler()
    scheduler.add(1, client=10, background=True)
    scheduler.add(2, client=20)
    assert turns(scheduler, 2) == [2, 2]
    scheduler.remove(2)
    assert scheduler.next() == 1


def test_blocked_requests_do_not_hold_up_others() -> None:
    scheduler = Scheduler()
    scheduler.add(1, client=10)
    scheduler.add(2, client=20)
    assert scheduler.next(blocked=frozenset({1})) == 2
    assert scheduler.next(blocked=frozenset({1, 2})) is None


def test_nothing_to_do() -> None:
    scheduler = Scheduler()
    assert scheduler.next() is None
    scheduler.remove(7)
    assert len(scheduler) == 0


def test_the_same_key_twice_is_a_mistake() -> None:
    scheduler = Scheduler()
    scheduler.add(1, client=10)
    with pytest.raises(ValueError, match="already"):
        scheduler.add(1, client=10)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=30))
def test_no_client_is_starved(clients: list[int]) -> None:
    """Between two turns of one client, no other client has two."""
    scheduler = Scheduler()
    owner = {}
    for key, client in enumerate(clients):
        scheduler.add(key, client)
        owner[key] = client
    order = [owner[key] for key in turns(scheduler, 40) if key is not None]
    distinct = len(set(clients))
    for start in range(len(order) - distinct + 1):
        assert len(set(order[start : start + distinct])) == distinct
