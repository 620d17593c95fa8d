"""Who is in a pass and who gets a slot, with examples small enough to follow by hand. A chunk is 8 tokens here."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.engine.scheduler import SPACING, Scheduler

ADA, BOB, CLEO = 10, 20, 30
LONG = 100  # tokens of a cold prompt


def scheduler(*entries: tuple[int, int], warm_ups: tuple[tuple[int, int], ...] = ()) -> Scheduler:
    """With these (key, client), in this order of arrival."""
    made = Scheduler(chunk=8)
    for key, client in entries:
        made.add(key, client)
    for key, client in warm_ups:
        made.add(key, client, background=True)
    return made


def test_every_key_is_in_the_next_pass() -> None:
    made = scheduler((1, ADA), (2, ADA), (3, BOB))
    assert sorted(made.rows({1: 1, 2: 2, 3: 1})) == [1, 2, 3]
    made.add(4, CLEO)
    assert sorted(made.rows({1: 1, 2: 1, 3: 1, 4: 2})) == [1, 2, 3, 4]


def test_a_pass_holds_a_chunk_and_clients_take_turns_in_it() -> None:
    made = scheduler((1, ADA), (2, ADA), (3, ADA), (4, ADA), (5, ADA), (6, BOB))
    pending = dict.fromkeys(range(1, 7), 2)
    assert made.rows(pending) == [5, 6, 4, 3]  # the newest first, and one of everybody before a second of anybody
    assert made.rows(pending) == [6, 5, 4, 3]


def test_one_cold_prompt_feeds_at_a_time_and_a_short_rest_rides_along() -> None:
    made = scheduler((1, ADA), (2, BOB))
    assert made.rows({1: LONG, 2: LONG}) == [1]
    assert made.rows({1: LONG - 8, 2: LONG}) == [2]
    assert made.rows({1: 3, 2: 5}) == [1, 2]  # 3 + 5 are one chunk
    assert made.rows({1: 3, 2: 6}) == [1]


def test_a_cold_file_is_in_every_fifth_pass_while_another_types() -> None:
    made = scheduler((1, ADA), (2, BOB))
    made.rows({2: LONG})
    passes = [made.rows({1: 1, 2: LONG}) for _ in range(2 * SPACING + 2)]
    assert passes == 2 * ([[1]] * SPACING + [[1, 2]])


def test_a_key_waits_for_one_chunk_at_most() -> None:
    """Bob's cold file is being fed when Ada's key comes: her first passes carry nothing of it."""
    made = scheduler((1, BOB))
    for _ in range(3):
        assert made.rows({1: LONG}) == [1]  # the last one is in flight when the key comes
    made.add(2, ADA)
    assert made.rows({1: LONG, 2: 2}) == [2]


def test_a_client_with_a_key_has_its_own_turn_for_a_cold_file() -> None:
    """Else Ada's cold file would wait until Bob has no cold file left: her typing is served in every pass."""
    made = scheduler((1, ADA), (2, ADA), (3, BOB))
    chunks = [row for _ in range(4 * (SPACING + 1)) for row in made.rows({1: 1, 2: LONG, 3: LONG}) if row != 1]
    assert chunks == [2, 3, 2, 3]


def test_coming_and_going_wins_no_turns() -> None:
    """Bob asks for one short cold prompt after another; each time he is a client that was never served."""
    made = scheduler((1, ADA))
    fed = Counter[int]()
    for key in range(2, 42):
        made.add(key, BOB)
        (chosen,) = made.rows({1: LONG, key: 8})
        fed[chosen] += 1
        if chosen == key:
            made.remove(key)
            continue
        (chosen,) = made.rows({1: LONG, key: 8})
        assert chosen == key
        made.remove(key)
    assert fed[1] >= 20


def test_warm_ups_run_only_when_nothing_else_does() -> None:
    made = scheduler((2, BOB), warm_ups=((1, ADA),))
    assert made.rows({1: LONG, 2: 1}) == [2]
    assert made.rows({1: LONG, 2: LONG}) == [2]
    made.remove(2)
    assert made.rows({1: LONG}) == [1]


def test_slots_go_to_clients_with_few_of_them_then_to_the_newest_key() -> None:
    made = scheduler((1, ADA), (2, ADA), (3, ADA), (4, BOB), (5, CLEO), warm_ups=((6, CLEO),))
    assert made.waiting(seated=[1]) == [4, 5, 3, 2, 6]
    assert made.waiting(seated=[1, 4, 5]) == [3, 2, 6]
    assert made.waiting(seated=[1, 2, 3, 4, 5, 6]) == []


def test_who_waits_longest_for_a_slot_comes_first_however_often_others_ask_anew() -> None:
    made = scheduler((1, ADA), (2, BOB), (3, CLEO))
    made.remove(3)
    made.add(4, CLEO)
    assert made.waiting(seated=[1]) == [2, 4]


def test_the_client_with_most_slots_gives_one_up() -> None:
    made = scheduler((1, ADA), (2, ADA), (3, BOB))
    assert made.gives_way(3, seated=[1, 2]) == 1
    assert made.gives_way(3, seated=[1]) is None  # one each is fair: no slot goes back and forth


def test_a_newer_key_takes_the_slot_of_an_older_one_of_its_client() -> None:
    made = scheduler((1, ADA), (2, BOB), (3, ADA))
    assert made.gives_way(3, seated=[1, 2]) == 1
    assert made.gives_way(1, seated=[2, 3]) is None


def test_a_warm_up_gives_its_slot_to_any_key_and_takes_none() -> None:
    made = scheduler((1, ADA), (2, BOB), warm_ups=((3, CLEO), (4, ADA)))
    assert made.gives_way(2, seated=[1, 3]) == 3
    assert made.gives_way(4, seated=[1, 3]) is None


def test_nothing_to_do() -> None:
    made = Scheduler(chunk=8)
    assert made.rows({}) == []
    assert made.waiting(()) == []
    made.remove(7)
    assert len(made) == 0


def test_the_same_key_twice_is_a_mistake() -> None:
    made = scheduler((1, ADA))
    with pytest.raises(ValueError, match="already"):
        made.add(1, ADA)


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from([1, 2, 5, LONG])), min_size=1, max_size=20))
def test_nobody_is_starved_and_no_pass_is_too_wide(entries: list[tuple[int, int]]) -> None:
    """Every client is served again and again, for keys and for cold prompts apart."""
    made = Scheduler(chunk=8)
    pending = {}
    owner = {}
    for key, (client, left) in enumerate(entries):
        made.add(key, client)
        pending[key], owner[key] = left, client
    served: Counter[tuple[int, bool]] = Counter()
    clients = len(set(owner.values()))
    rounds = 3
    for _ in range(rounds * clients * (SPACING + 1)):
        rows = made.rows(pending)
        assert rows
        assert len(set(rows)) == len(rows)
        for wide in (False, True):
            fed = [min(8, pending[key]) for key in rows if (pending[key] > 2) == wide]
            assert sum(fed) <= 8
            served.update({(owner[key], wide) for key in rows if (pending[key] > 2) == wide})
    for key, left in pending.items():
        assert served[owner[key], left > 2] >= rounds


@given(st.integers(1, 3), st.lists(st.integers(1, 4), min_size=1, max_size=12))
def test_slots_settle(slots: int, clients: list[int]) -> None:
    """However the clients came, after as many exchanges as there are entries nobody takes a slot from another."""
    made = Scheduler(chunk=8)
    for key, client in enumerate(clients):
        made.add(key, client)
    seated: set[int] = set()
    for _ in range(len(clients) + 1):
        before = set(seated)
        for key in made.waiting(seated):
            if len(seated) == slots:
                other = made.gives_way(key, seated)
                if other is None:
                    continue
                seated.remove(other)
            seated.add(key)
    assert seated == before
    held = Counter(clients[key] for key in seated)
    waiting = {clients[key] for key in range(len(clients)) if key not in seated}
    assert all(held[client] >= max(held.values()) - 1 for client in waiting)


def test_extra_rows_come_behind_the_first_of_everybody() -> None:
    made = scheduler((1, ADA))
    made.add(2, ADA, extra=True)
    made.add(3, BOB)
    assert made.rows({1: 2, 2: 2, 3: 2}) == [1, 3, 2]
    made.add(4, BOB)
    assert sorted(made.rows(dict.fromkeys(range(1, 5), 2))[:3]) == [1, 3, 4]
    assert made.waiting(seated=[1]) == [4, 3, 2]


def test_an_extra_row_gives_its_slot_to_any_first_one_and_takes_none_from_a_request() -> None:
    made = scheduler((1, ADA), warm_ups=((4, CLEO),))
    made.add(2, ADA, extra=True)
    made.add(3, BOB)
    assert made.gives_way(3, seated=[1, 2]) == 2
    assert made.gives_way(3, seated=[1, 2, 4]) == 4
    assert made.gives_way(2, seated=[1, 3]) is None
    assert made.gives_way(2, seated=[1, 4]) == 4


def test_an_extra_row_inherits_the_place_of_the_first() -> None:
    made = scheduler((1, ADA), (2, BOB))
    made.add(3, ADA, extra=True)
    made.add(4, ADA, extra=True)
    made.remove(3, heir=4)  # an extra one has nothing to leave
    assert made.gives_way(2, seated=[1, 4]) == 4
    made.remove(1, heir=4)
    assert made.gives_way(2, seated=[4]) is None
