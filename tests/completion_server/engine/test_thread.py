"""The engine on its thread: loading, failing, unloading, storms, stopping. Real engines over tiny models."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from completion_server.engine.continuation import Reach
from completion_server.engine.engine import Engine
from completion_server.engine.thread import EngineThread
from completion_server.errors import ModelNotFound
from completion_server.protocol import Cancelled, Complete, Context, EngineMessage, Error, Limits, Result, State

SOON = 30.0
CODE = "def add(left, right):\n    return left + right\n\nvalue = "
MakeDriver = Callable[..., Any]


class Running:
    """An `EngineThread` and what it says."""

    def __init__(self, load: Callable[[Any], Engine], **options: Any) -> None:
        self.states: queue.Queue[State] = queue.Queue()
        self.backend = EngineThread("tiny", load, **options)
        self.backend.start(self.states.put)
        self._ids = 0

    def wait_for(self, phase: str) -> State:
        while True:
            state = self.states.get(timeout=SOON)
            if state.phase == phase:
                return state

    def submit(self, before: str = CODE, *, client: int = 1, document: str = "a.py", tokens: int = 8) -> "Replies":
        self._ids += 1
        replies = Replies(self._ids)
        request = Complete(self._ids, Context(document, self._ids, before, "", "python"), Limits(tokens, 99))
        self.backend.submit(client, request, time.perf_counter(), replies.put)
        return replies


class Replies:
    def __init__(self, request: int) -> None:
        self.request = request
        self._messages: queue.Queue[EngineMessage] = queue.Queue()
        self.put = self._messages.put

    def last(self) -> EngineMessage:
        return self._messages.get(timeout=SOON)

    @property
    def more(self) -> bool:
        return not self._messages.empty()


@pytest.fixture
def run(make_driver: MakeDriver) -> Iterator[Callable[..., Running]]:
    """Starts threads over fresh tiny engines; stops them when the test ends."""
    started: list[Running] = []

    def start(load: Callable[[Any], Engine] | None = None, **options: Any) -> Running:
        started.append(Running(load or (lambda _: make_driver().engine), **options))
        return started[-1]

    yield start
    for running in started:
        running.backend.stop(SOON)
        assert not running.backend._thread.is_alive()


def test_it_loads_and_answers(run: Callable[..., Running], make_driver: MakeDriver) -> None:
    running = run()
    assert running.wait_for("ready").pair == "tiny"
    result = running.submit().last()
    assert isinstance(result, Result)
    assert result.text == make_driver().ask(CODE, limits=Limits(8, 99)).text
    usage = result.usage
    assert usage.e2e_ms >= usage.ttft_ms >= usage.first_tokens_ms > usage.queue_ms >= 0
    assert running.backend.snapshot().completed == 1


def test_what_comes_while_it_loads_is_answered_afterwards(run: Callable[..., Running], make_driver: MakeDriver) -> None:
    go = threading.Event()

    def load(progress: Any) -> Engine:
        progress("half", 0.5)
        assert go.wait(SOON)
        engine: Engine = make_driver().engine
        return engine

    running = run(load)
    assert running.wait_for("loading").fraction == 0.0
    first, other = running.submit(), running.submit(document="b.py")
    newer = running.submit()
    assert first.last().reason == "superseded"  # at once: nobody waits for the load to be told this
    running.backend.cancel(1, other.request)
    assert other.last().reason == "client"
    assert not newer.more
    go.set()
    assert isinstance(newer.last(), Result)
    assert not first.more
    assert not other.more


def test_a_failed_load_is_said_once_per_request_and_tried_again_later(
    run: Callable[..., Running], make_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = []

    def load(progress: Any) -> Engine:
        attempts.append(1)
        if len(attempts) == 1:
            raise ModelNotFound("there is no model; run foretype pull tiny")
        engine: Engine = make_driver().engine
        return engine

    running = run(load)
    assert running.wait_for("failed").detail == "there is no model; run foretype pull tiny"
    error = running.submit().last()
    assert isinstance(error, Error)
    assert (error.code, error.message) == ("model-not-found", "there is no model; run foretype pull tiny")
    assert len(attempts) == 1
    monkeypatch.setattr("completion_server.engine.resident.RETRY_LOAD_S", 0.0)
    assert isinstance(running.submit().last(), Result)


def test_an_unforeseen_error_while_loading_does_not_end_the_process(run: Callable[..., Running]) -> None:
    def load(progress: Any) -> Engine:
        raise KeyError("some weight")

    running = run(load)
    assert "KeyError" in running.wait_for("failed").detail
    assert isinstance(running.submit().last(), Error)


def test_idle_models_are_unloaded_and_come_back(run: Callable[..., Running]) -> None:
    running = run(unload_after_s=0.05)
    running.wait_for("ready")
    text = running.submit().last().text
    running.wait_for("unloaded")
    assert running.backend.snapshot().slots_total == 0
    assert running.backend.snapshot().completed == 1  # what was counted outlives the models
    assert running.submit().last().text == text
    assert running.backend.snapshot().completed == 2


def test_what_follows_is_worked_out_between_two_requests(run: Callable[..., Running], make_driver: MakeDriver) -> None:
    """The thread wakes for it by itself, and a request that comes meanwhile is answered as ever."""
    engine: Engine = make_driver(reach=Reach(tokens=400, lines=400)).engine
    advanced, going = threading.Semaphore(0), engine._continuations.advance

    def advance() -> None:
        going()
        advanced.release()

    engine._continuations.advance = advance  # type: ignore[method-assign]
    running = run(lambda _: engine)
    running.wait_for("ready")
    texts = []
    for document in ("a.py", "b.py", "a.py"):
        texts.append(running.submit(document=document).last().text)
        assert all(advanced.acquire(timeout=SOON) for _ in range(3))
    assert texts == [make_driver().ask(CODE, limits=Limits(8, 99)).text] * 3


def test_a_storm_is_answered_one_by_one(run: Callable[..., Running]) -> None:
    """seq-storm at the engine: each key supersedes the last, every one has exactly one reply."""
    running = run()
    running.wait_for("ready")
    asked = [running.submit(CODE + "x" * i, tokens=64) for i in range(70)]
    last = [replies.last() for replies in asked]
    assert isinstance(last[-1], Result)
    assert all(isinstance(reply, Result | Cancelled) for reply in last)
    assert not any(replies.more for replies in asked)


def test_too_many_at_once_are_refused_at_once(run: Callable[..., Running], make_driver: MakeDriver) -> None:
    go = threading.Event()

    def load(progress: Any) -> Engine:
        assert go.wait(SOON)
        engine: Engine = make_driver().engine
        return engine

    running = run(load, max_queue=3)
    asked = [running.submit(document=f"{i}.py") for i in range(5)]
    assert [replies.last().code for replies in asked[3:]] == ["overloaded"] * 2
    go.set()
    assert all(isinstance(replies.last(), Result) for replies in asked[:3])


def test_stopping_answers_what_is_open(run: Callable[..., Running]) -> None:
    running = run()
    running.wait_for("ready")
    asked = [running.submit(document=f"{i}.py", tokens=200) for i in range(5)]
    running.backend.stop(SOON)
    assert all(isinstance(replies.last(), Result | Cancelled) for replies in asked)
    late = running.submit().last()
    assert (type(late), late.reason) == (Cancelled, "shutdown")


def test_a_fault_of_the_engine_itself_is_answered_and_mended_by_a_new_load(
    run: Callable[..., Running], make_driver: MakeDriver, caplog: pytest.LogCaptureFixture
) -> None:
    loads: list[Engine] = []

    def load(progress: Any) -> Engine:
        engine: Engine = make_driver().engine
        if not loads:
            engine._sweep = lambda: 1 / 0  # type: ignore[method-assign, assignment, return-value]
        loads.append(engine)
        return engine

    running = run(load)
    running.wait_for("ready")
    error = running.submit("secret = ").last()
    assert isinstance(error, Error)
    assert "ZeroDivisionError at test_thread.py" in error.message
    assert running.wait_for("unloaded")
    assert isinstance(running.submit().last(), Result)
    assert len(loads) == 2
    assert "secret" not in caplog.text


def test_a_wait_of_any_length_is_possible(run: Callable[..., Running]) -> None:
    running = run(unload_after_s=1e12)
    running.wait_for("ready")
    assert isinstance(running.submit().last(), Result)


def test_a_client_that_leaves_takes_its_requests_along(run: Callable[..., Running]) -> None:
    running = run()
    running.wait_for("ready")
    leaving = running.submit(client=1, tokens=200)
    staying = running.submit(client=2)
    running.backend.disconnect(1)
    running.backend.close_document(1, "a.py")
    assert isinstance(leaving.last(), Cancelled | Result)
    assert isinstance(staying.last(), Result)
