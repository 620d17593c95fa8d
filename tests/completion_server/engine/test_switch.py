"""Another pair for a running engine: nothing is lost, every request has one reply, where it fails the old one goes on.

Real engines over two tiny models that write different text.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from completion_server.engine import switch as switch_module
from completion_server.engine.candidate import Candidate
from completion_server.engine.engine import Engine
from completion_server.engine.thread import EngineThread
from completion_server.errors import ForetypeError, ModelNotFound, SettingsError
from completion_server.protocol import (
    Cancelled,
    Complete,
    Context,
    EngineMessage,
    Error,
    Limits,
    PairInUse,
    Result,
    State,
    UsePair,
)

SOON = 30.0
CODE = "def add(left, right):\n    return left + right\n\nvalue = "
MakeDriver = Callable[..., Any]
OTHER = {"padded_to": 400}  # another vocabulary size is another set of random weights


def renamed(engine: Engine, name: str) -> Engine:
    engine.pair = replace(engine.pair, name=name)
    return engine


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


class Place:
    """An engine's thread with the pairs `old` and `new`. `gate` holds back the loading of `new`, `error` spoils it."""

    def __init__(self, make_driver: MakeDriver, *, beside: bool = True, **options: Any) -> None:
        self.states: list[State] = []
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.loading = threading.Event()
        self.loads: list[str] = []
        self._beside = beside
        self._make = make_driver
        self._ids = 0
        self._moved = threading.Condition()
        self.backend = EngineThread("old", self._loader("old"), find=self._find, **options)
        self.backend.start(self._hear)
        self.wait_for("ready")

    def _hear(self, state: State) -> None:
        with self._moved:
            self.states.append(state)
            self._moved.notify_all()

    def _find(self, name: str) -> Candidate:
        if name not in ("old", "new"):
            raise SettingsError(f"no pair is called {name!r}")
        return Candidate(name, self._loader(name), self._beside)

    def _loader(self, name: str) -> Callable[[Any], Engine]:
        def load(progress: Any) -> Engine:
            progress("half", 0.5)
            self.loads.append(name)
            if name == "new":
                self.loading.set()
                assert self.gate.wait(SOON)
                if self.error is not None:
                    raise self.error
            engine: Engine = renamed(self._make(**(OTHER if name == "new" else {})).engine, name)
            return engine

        return load

    def wait_for(self, phase: str, pair: str | None = None) -> State:
        def found() -> State | None:
            wanted = (state for state in self.states if state.phase == phase and pair in (None, state.pair))
            return next(wanted, None)

        with self._moved:
            assert self._moved.wait_for(found, SOON)
            state = found()
        assert state is not None
        return state

    def use(self, name: str) -> Replies:
        self._ids += 1
        replies = Replies(self._ids)
        self.backend.use_pair(UsePair(self._ids, name), replies.put)
        return replies

    def ask(self, *, client: int = 1, document: str = "a.py", tokens: int = 8, before: str = CODE) -> Replies:
        self._ids += 1
        replies = Replies(self._ids)
        request = Complete(self._ids, Context(document, self._ids, before, "", "python"), Limits(tokens, 99))
        self.backend.submit(client, request, time.perf_counter(), replies.put)
        return replies

    def text(self, **options: Any) -> str:
        reply = self.ask(**options).last()
        assert isinstance(reply, Result), reply
        return reply.text


@pytest.fixture
def place(make_driver: MakeDriver) -> Iterator[Callable[..., Place]]:
    """Makes places; stops them when the test ends."""
    made: list[Place] = []

    def make(**options: Any) -> Place:
        made.append(Place(make_driver, **options))
        return made[-1]

    yield make
    for one in made:
        one.gate.set()
        one.backend.stop(SOON)
        assert not one.backend._thread.is_alive()


def test_the_two_pairs_write_different_text(make_driver: MakeDriver) -> None:
    assert written(make_driver, "old") != written(make_driver, "new")


def written(make_driver: MakeDriver, name: str, before: str = CODE) -> str:
    text: str = make_driver(**(OTHER if name == "new" else {})).ask(before, limits=Limits(8, 99)).text
    return text


@pytest.mark.parametrize("beside", [True, False])
def test_no_request_of_a_stream_is_lost(place: Callable[..., Place], make_driver: MakeDriver, beside: bool) -> None:
    """Two people type while the pair changes: old text, then new, no error, one reply each."""
    here = place(beside=beside)
    old, new = written(make_driver, "old"), written(make_driver, "new")
    here.gate.clear()
    asked = [here.ask(document="0.py")]
    answer = here.use("new")
    assert here.loading.wait(SOON)
    for number in range(1, 40):
        if number == 20:
            here.gate.set()
        asked.append(here.ask(client=1 + number % 2, document=f"{number}.py"))
        if beside or number >= 20:
            asked[-1]._messages.put(asked[-1].last())  # wait for it: people do
    told = answer.last()
    assert isinstance(told, PairInUse)
    assert (told.pair, told.pause_ms >= 0) == ("new", True)
    asked.append(here.ask(document="last.py"))
    replies = [one.last() for one in asked]
    assert all(isinstance(reply, Result) for reply in replies)
    said = [reply.text for reply in replies if isinstance(reply, Result)]
    changed = said.index(new)
    assert said == [old] * changed + [new] * (len(said) - changed)
    assert changed >= (20 if beside else 1)
    assert not any(one.more for one in [*asked, answer])
    assert here.backend.snapshot().completed == len(asked)  # over both pairs
    assert here.backend.state.pair == "new"


def test_what_runs_ends_on_the_old_pair(
    place: Callable[..., Place], monkeypatch: pytest.MonkeyPatch, make_driver: Any
) -> None:
    """Where no moment without a request comes, those that run end on the old pair and the next ones wait a little."""
    monkeypatch.setattr(switch_module, "PATIENCE_S", 0.0)
    here = place()
    running = here.ask(tokens=60)
    answer = here.use("new")
    assert isinstance(answer.last(), PairInUse)
    whole = make_driver().ask(CODE, limits=Limits(60, 99)).text
    assert running.last().text == whole  # type: ignore[union-attr]
    assert here.text() == written(make_driver, "new")


def test_front_ends_go_on_asking_while_another_pair_is_loaded(place: Callable[..., Place]) -> None:
    here = place()
    answer = here.use("new")
    assert isinstance(answer.last(), PairInUse)
    here.wait_for("ready", "new")
    assert {state.phase for state in here.states[here.states.index(here.wait_for("ready")) :]} == {"ready"}
    progress = [state for state in here.states if state.fraction == 0.5 and state.phase == "ready"]
    assert [(state.pair, state.detail) for state in progress] == [("old", "switching to new: half")]


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    ("error", "code"), [(ModelNotFound("there is no model"), "model-not-found"), (KeyError("secret"), "internal")]
)
def test_a_pair_that_cannot_be_loaded_leaves_the_old_one(
    place: Callable[..., Place], make_driver: MakeDriver, beside: bool, error: Exception, code: str
) -> None:
    here = place(beside=beside)
    here.error = error
    told = here.use("new").last()
    assert isinstance(told, Error)
    assert told.code == code
    assert "\n" not in told.message
    assert "secret" not in told.message
    assert here.text() == written(make_driver, "old")
    assert (here.backend.state.phase, here.backend.state.pair) == ("ready", "old")
    assert here.backend.state.detail == f"new could not be loaded: {told.message}"
    assert here.backend.failure is None
    here.error = None
    assert isinstance(here.use("new").last(), PairInUse)  # it may be tried again


def test_an_unknown_pair_is_refused_by_name(place: Callable[..., Place]) -> None:
    here = place()
    told = here.use("nonsense").last()
    assert isinstance(told, Error)
    assert (told.code, told.message) == ("settings", "no pair is called 'nonsense'")
    assert here.loads == ["old"]


def test_the_pair_in_use_is_in_use_at_once(place: Callable[..., Place]) -> None:
    here = place()
    assert here.use("old").last() == PairInUse(1, "old", 0.0)
    assert here.loads == ["old"]


def test_a_second_switch_is_refused_while_one_is_under_way(place: Callable[..., Place]) -> None:
    here = place()
    here.gate.clear()
    first = here.use("new")
    assert here.loading.wait(SOON)
    for name in ("new", "old"):
        told = here.use(name).last()
        assert isinstance(told, Error)
        assert told.message == "the engine is just switching to new: ask again when that is done"
    here.gate.set()
    assert isinstance(first.last(), PairInUse)
    assert isinstance(here.use("old").last(), PairInUse)
    assert here.backend.state.pair == "old"


def test_cancels_closes_and_leaving_clients_do_no_harm(place: Callable[..., Place], make_driver: MakeDriver) -> None:
    here = place()
    here.gate.clear()
    answer = here.use("new")
    assert here.loading.wait(SOON)
    cancelled, left = here.ask(document="c.py", tokens=400), here.ask(client=2, tokens=400)
    here.backend.cancel(1, cancelled.request)
    here.backend.cancel(1, answer.request)  # a switch cannot be cancelled
    here.backend.disconnect(2)
    here.backend.close_document(1, "c.py")
    assert isinstance(cancelled.last(), Cancelled | Result)
    assert isinstance(left.last(), Cancelled | Result)
    here.gate.set()
    assert isinstance(answer.last(), PairInUse)
    here.backend.close_document(1, "c.py")
    here.backend.disconnect(2)
    assert here.text(document="c.py") == written(make_driver, "new")


@pytest.mark.parametrize("beside", [True, False])
def test_the_end_comes_during_a_switch(place: Callable[..., Place], beside: bool) -> None:
    here = place(beside=beside)
    here.gate.clear()
    answer = here.use("new")
    assert here.loading.wait(SOON)
    asked = here.ask()
    ending = threading.Thread(target=here.backend.stop, args=(SOON,))
    ending.start()
    told = answer.last()  # at once, whatever is being loaded
    assert isinstance(told, Cancelled)
    assert told.reason == "shutdown"
    assert isinstance(asked.last(), Cancelled | Result)
    here.gate.set()
    ending.join(SOON)
    assert not answer.more
    late = here.use("new").last()
    assert isinstance(late, Cancelled)


def test_what_is_unloaded_comes_back_as_the_pair_now_in_use(
    place: Callable[..., Place], make_driver: MakeDriver
) -> None:
    here = place(unload_after_s=0.05)
    here.gate.clear()
    answer = here.use("new")
    assert here.loading.wait(SOON)
    here.wait_for("unloaded", "old")  # while the other one is being loaded
    here.gate.set()
    assert isinstance(answer.last(), PairInUse)
    here.wait_for("unloaded", "new")
    assert here.text() == written(make_driver, "new")
    assert here.loads == ["old", "new", "new"]


def test_a_fault_of_the_engine_does_not_lose_the_switch(place: Callable[..., Place], make_driver: MakeDriver) -> None:
    here = place()
    here.gate.clear()
    answer = here.use("new")
    assert here.loading.wait(SOON)
    here.backend._engine._sweep = lambda: 1 / 0  # type: ignore[union-attr, method-assign, assignment, return-value]
    assert isinstance(here.ask().last(), Error)
    here.gate.set()
    assert isinstance(answer.last(), PairInUse)
    assert here.text() == written(make_driver, "new")


STEPS = st.lists(
    st.sampled_from(["ask", "other", "cancel", "close", "leave", "new", "old", "spoil", "mend"]), max_size=12
)


@given(steps=STEPS, beside=st.booleans())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_each_request_has_one_reply(make_driver: MakeDriver, steps: list[str], beside: bool) -> None:
    here = Place(make_driver, beside=beside)
    asked, uses = [], []
    for step in steps:
        match step:
            case "ask" | "other":
                asked.append(here.ask(client=1 if step == "ask" else 2, document=f"{step}.py"))
            case "cancel" if asked:
                here.backend.cancel(1, asked[-1].request)
            case "close":
                here.backend.close_document(1, "ask.py")
            case "leave":
                here.backend.disconnect(2)
            case "new" | "old":
                uses.append(here.use(step))
            case "spoil" | "mend":
                here.error = ForetypeError("spoilt") if step == "spoil" else None
    answers = [one.last() for one in uses]
    replies = [one.last() for one in asked]
    here.backend.stop(SOON)
    assert all(isinstance(answer, PairInUse | Error) for answer in answers)
    assert all(isinstance(reply, Result | Cancelled) for reply in replies)
    assert not any(one.more for one in [*asked, *uses])
    came = [answer.pair for answer in answers if isinstance(answer, PairInUse)]
    assert here.backend.state.pair == (came[-1] if came else "old")
