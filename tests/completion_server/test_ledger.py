"""Every request is settled exactly once, whatever the order of events."""

from hypothesis import given
from hypothesis import strategies as st

from completion_server.ledger import MAX_OPEN, Ledger


def test_request_is_settled_once() -> None:
    ledger = Ledger()
    assert ledger.open(1)
    assert 1 in ledger
    assert ledger.settle(1)
    assert not ledger.settle(1)
    assert 1 not in ledger


def test_open_id_cannot_be_opened_again_until_it_is_settled() -> None:
    ledger = Ledger()
    assert ledger.open(1)
    assert not ledger.open(1)
    assert ledger.settle(1)
    assert ledger.open(1)


def test_unknown_id_cannot_be_settled() -> None:
    assert not Ledger().settle(1)


def test_ledger_is_full_at_its_limit() -> None:
    ledger = Ledger()
    for request in range(MAX_OPEN):
        assert not ledger.full
        ledger.open(request)
    assert ledger.full
    ledger.settle(0)
    assert not ledger.full


@given(st.lists(st.tuples(st.sampled_from(["open", "settle"]), st.integers(1, 4))))
def test_settled_as_often_as_opened(events: list[tuple[str, int]]) -> None:
    ledger = Ledger()
    opened: list[int] = []
    settled: list[int] = []
    for event, request in events:
        if event == "open" and ledger.open(request):
            opened.append(request)
        if event == "settle" and ledger.settle(request):
            settled.append(request)
    assert sorted(opened) == sorted([*settled, *ledger.open_requests()])
