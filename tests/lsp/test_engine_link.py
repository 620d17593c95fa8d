"""The link to the engine: found in the background, lost, found again; told once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from completion_server.errors import EngineUnavailable, ForetypeError, ModelNotFound, VersionMismatch
from completion_server.protocol import Context, State
from lsp import engine_link
from lsp.engine_link import EngineLink, OnState
from lsp.fake_engine import FakeEngine

SOON = 10.0
CONTEXT = Context("d1", 1, "x", "")


class Notes:
    """A `Reporter` that writes down."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.losses: list[str] = []
        self.troubles: list[str] = []
        self.recoveries: list[str] = []
        self.came = asyncio.Event()

    def state(self, state: State) -> None:
        self.phases.append(state.phase)
        self.came.set()

    def lost(self, message: str) -> None:
        self.losses.append(message)
        self.came.set()

    def trouble(self, message: str) -> None:
        self.troubles.append(message)
        self.came.set()

    def recovered(self, message: str) -> None:
        self.recoveries.append(message)
        self.came.set()

    async def until(self, wanted: Callable[[], Any]) -> None:
        async with asyncio.timeout(SOON):
            while not wanted():
                self.came.clear()
                await self.came.wait()


class Engines:
    """A `Connect` that gives these in turn; an error is raised."""

    def __init__(self, *engines: FakeEngine | ForetypeError) -> None:
        self.engines = list(engines)
        self.tries = 0

    async def connect(self, on_state: OnState) -> FakeEngine:
        self.tries += 1
        engine = self.engines.pop(0) if len(self.engines) > 1 else self.engines[0]
        if isinstance(engine, ForetypeError):
            raise engine
        return await engine.connect(on_state)


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
async def link_to(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[..., Awaitable[tuple[EngineLink, Engines]]]]:
    """A started link; its pauses are short."""
    monkeypatch.setattr(engine_link, "QUICKEST_RETRY", 0.002)
    links: list[EngineLink] = []

    async def make(*engines: FakeEngine | ForetypeError, pause: float = 0.001) -> tuple[EngineLink, Engines]:
        source = Engines(*engines)
        link = EngineLink(source.connect, notes, first_pause=pause)
        links.append(link)
        link.start()
        return link, source

    yield make
    for link in links:
        await link.stop()


async def test_it_waits_until_the_engine_is_ready(link_to: Any, notes: Notes) -> None:
    engine = FakeEngine(state=State("loading", "fake"))
    link, _ = await link_to(engine)
    assert link.ready is None
    waiting = asyncio.create_task(link.wait_ready(SOON))
    await notes.until(lambda: notes.phases)
    engine.become(State("loading", "fake", fraction=0.5))
    await asyncio.sleep(0)
    assert not waiting.done()
    engine.become(State("ready", "fake"))
    assert await waiting is engine


async def test_a_dead_engine_is_replaced_and_told_once(link_to: Any, notes: Notes) -> None:
    first, second = FakeEngine(), FakeEngine()
    missing = EngineUnavailable("no engine is running")
    link, engines = await link_to(first, missing, missing, missing, second)
    await link.wait_ready(SOON)
    first.die()
    await notes.until(lambda: notes.recoveries)
    assert link.ready is second
    assert engines.tries == 5
    assert len(notes.troubles) == 1
    assert len(notes.recoveries) == 1
    second.die()
    await notes.until(lambda: len(notes.troubles) == 2)


async def test_an_engine_of_another_version_is_told(link_to: Any, notes: Notes) -> None:
    await link_to(VersionMismatch("the engine speaks protocol 9, this client 1: end the engine"))
    await notes.until(lambda: notes.troubles)
    assert notes.troubles == ["No suggestions: the engine speaks protocol 9, this client 1: end the engine."]


async def test_a_socket_that_cannot_be_opened_is_told(notes: Notes) -> None:
    async def connect(_: OnState) -> FakeEngine:
        raise PermissionError(13, "Permission denied", "/secret/path")

    link = EngineLink(connect, notes)
    link.start()
    await notes.until(lambda: notes.troubles)
    await link.stop()
    assert notes.troubles == ["No suggestions: Permission denied."]


async def test_a_failed_load_is_told_and_nobody_waits_for_it(link_to: Any, notes: Notes) -> None:
    link, _ = await link_to(FakeEngine(state=State("failed", "fake", "model x is not there: foretype pull x")))
    await notes.until(lambda: notes.troubles)
    assert notes.troubles == ["model x is not there: foretype pull x"]
    assert await link.wait_ready(SOON) is None


async def test_an_engine_that_ends_on_purpose_is_no_trouble_and_comes_back_with_the_next_key(
    link_to: Any, notes: Notes
) -> None:
    first, second = FakeEngine(), FakeEngine()
    link, engines = await link_to(first, second)
    await link.wait_ready(SOON)
    first.become(State("stopping", "fake"))
    first.die()
    await notes.until(lambda: notes.losses == ["The engine has ended."])
    assert (engines.tries, notes.troubles) == (1, [])
    link.nudge(CONTEXT)
    assert await link.wait_ready(SOON) is second


async def test_a_key_cuts_a_long_pause_short(link_to: Any, notes: Notes) -> None:
    engine = FakeEngine()
    link, _ = await link_to(EngineUnavailable("none"), engine, pause=1_000.0)
    await notes.until(lambda: notes.troubles)
    link.nudge(CONTEXT)
    waiting = asyncio.create_task(link.wait_ready(SOON))
    while not waiting.done():
        link.nudge(CONTEXT)
        await asyncio.sleep(0.001)
    assert waiting.result() is engine


async def test_a_request_that_fails_for_want_of_a_model_is_told_at_once(link_to: Any, notes: Notes) -> None:
    link, _ = await link_to(FakeEngine())
    await link.wait_ready(SOON)
    link.failed(ModelNotFound("not pulled"))
    link.failed(ModelNotFound("not pulled"))
    assert notes.troubles == ["not pulled"]
    link.worked()
    link.worked()
    assert len(notes.recoveries) == 1


async def test_stop_hangs_up(link_to: Any) -> None:
    engine = FakeEngine()
    link, _ = await link_to(engine)
    await link.wait_ready(SOON)
    await link.stop()
    assert engine.closed
    assert link.phase == "unavailable"


async def test_an_engine_that_dies_while_it_loads_is_not_tried_at_full_speed(notes: Notes) -> None:
    pauses: list[float] = []
    enough = asyncio.Event()

    class Patient(EngineLink):
        async def _rest(self, pause: float, at_least: float) -> None:
            pauses.append(pause)
            if len(pauses) == 4:
                enough.set()
                await asyncio.Future()

    engines = [FakeEngine(state=State("loading", "fake")) for _ in range(2)]
    engines.insert(1, FakeEngine())
    tries = iter([*engines, FakeEngine(state=State("loading", "fake"))])

    async def connect(on_state: OnState) -> FakeEngine:
        engine = await next(tries).connect(on_state)
        asyncio.get_running_loop().call_soon(engine.die)
        return engine

    link = Patient(connect, notes, first_pause=1.0)
    link.start()
    async with asyncio.timeout(SOON):
        await enough.wait()
    await link.stop()
    assert pauses == [1.0, 1.0, 2.0, 4.0]  # the second one had been ready


@pytest.mark.parametrize("error", [RuntimeError("/home/hunter2"), ValueError("hunter2"), KeyError("hunter2")])
async def test_an_unexpected_error_is_told_once_and_tried_again(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(engine_link, "QUICKEST_RETRY", 0.002)
    engine = FakeEngine()
    tries = 0

    async def connect(on_state: OnState) -> FakeEngine:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise error
        return await engine.connect(on_state)

    link = EngineLink(connect, notes, first_pause=0.001)
    link.start()
    while await link.wait_ready(0.01) is not engine:
        link.nudge(CONTEXT)
    await link.stop()
    assert notes.troubles == [f"No suggestions: the engine could not be looked for ({type(error).__name__})."]
    assert len(notes.recoveries) == 1
