"""Who computes when: requests first, one measured pass at most between two of theirs."""

import threading
from collections.abc import Callable

import pytest

from completion_server.engine import turns as turns_module
from completion_server.engine.turns import Turns

SOON = 30.0


def begun(call: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread


def test_never_two_at_once() -> None:
    turns, inside, most = Turns(), 0, 0

    def work(turn: Callable[[], object]) -> None:
        nonlocal inside, most
        for _ in range(200):
            with turn():  # type: ignore[attr-defined]
                inside += 1
                most = max(most, inside)
                threading.Event().wait(0)
                inside -= 1

    workers = [begun(lambda: work(turns.first)), begun(lambda: work(turns.second))]
    for worker in workers:
        worker.join(SOON)
        assert not worker.is_alive()
    assert most == 1


def test_a_request_goes_before_a_pass_that_waits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "PATIENCE_S", SOON)
    turns, order = Turns(), []

    def second() -> None:
        with turns.second():
            order.append("measured")

    with turns.second():
        waiting = begun(second)
        request = begun(lambda: _first(turns, order))
        while not turns._first_waits:
            pass
    request.join(SOON)
    waiting.join(SOON)
    assert order == ["request", "measured"]


def test_requests_without_end_let_one_pass_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "PATIENCE_S", 0.0)
    turns, measured = Turns(), threading.Event()

    def second() -> None:
        with turns.second():
            measured.set()

    with turns.first():
        waiting = begun(second)
        while not turns._due:
            pass
    with turns.first():
        assert measured.is_set()
    waiting.join(SOON)


def test_a_pass_that_fails_gives_its_turn_back() -> None:
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns.second():
        raise ZeroDivisionError
    with turns.first(), pytest.raises(ZeroDivisionError):
        raise ZeroDivisionError
    with turns.second():
        pass


def _first(turns: Turns, order: list[str]) -> None:
    with turns.first():
        order.append("request")
