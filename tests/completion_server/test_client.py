"""The client's calls end, in a result or in a typed error, whatever the engine does."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from completion_server import client as client_module
from completion_server import engine_client, errors
from completion_server.backend import Backend
from completion_server.client import EngineClient, connect
from completion_server.errors import (
    EngineUnavailable,
    ForetypeError,
    Overloaded,
    ProtocolError,
    RequestCancelled,
    RequestError,
    SettingsError,
    VersionMismatch,
)
from completion_server.hub import Hub
from completion_server.instance import Running, claim
from completion_server.paths import RuntimePaths
from completion_server.protocol import (
    MAX_BEFORE,
    PROTOCOL_VERSION,
    Cancel,
    Cancelled,
    CloseDocument,
    Complete,
    Context,
    Decoding,
    Delta,
    EngineMessage,
    Error,
    Hello,
    Limits,
    Message,
    PairInUse,
    Result,
    State,
    Status,
    Usage,
    Welcome,
)
from completion_server.protocol.codec import decode
from completion_server.protocol.frames import frame, read_frame
from completion_server.refusal import error_classes
from completion_server.scripted import Rule, Script, ScriptedBackend

NEVER = Rule("late", match="wait", delay_ms=3_600_000)
SOON = 20.0
WELCOME = Welcome(PROTOCOL_VERSION, "0", 1, State("ready", "p"))

Scripted = Callable[..., Awaitable[ScriptedBackend]]


def context(before: str = "", document: str = "d") -> Context:
    return Context(document, 1, before, "")


@pytest.fixture
async def client(scripted: Scripted, runtime: RuntimePaths) -> AsyncIterator[EngineClient]:
    await scripted(
        NEVER,
        Rule(match="overloaded", error="overloaded"),
        Rule(match="internal", error="internal"),
        Rule(match="model", error="model-not-found"),
        Rule(match="future", error="a-code-of-the-future"),
        Rule("abcd", chunks=2),
    )
    client = await connect(name="test", paths=runtime)
    yield client
    await client.aclose()


# -- an engine that answers ----------------------------------------------------------------------------------------


async def test_suggestion_with_its_deltas(client: EngineClient) -> None:
    deltas: list[Delta] = []
    result = await client.complete(context("x = "), on_delta=deltas.append)
    assert (result.text, [delta.text for delta in deltas]) == ("abcd", ["ab", "cd"])
    assert deltas[-1].scores == result.scores
    assert result.usage.prompt_tokens == 4


async def test_engine_gets_what_was_asked(scripted: Scripted, runtime: RuntimePaths) -> None:
    backend = await scripted()
    client = await connect(name="test", paths=runtime)
    await client.complete(context(), limits=Limits(3, 1), decoding=Decoding(seed=5))
    await client.complete(context(), on_delta=lambda _: None)
    await client.warm(context())
    first, second, third = backend.requests
    assert first == Complete(1, context(), Limits(3, 1), Decoding(seed=5), stream=False)
    assert second == Complete(2, context(), stream=True)
    assert third.id == 3
    await client.aclose()


async def test_status_names_the_engine(client: EngineClient) -> None:
    status = await client.status()
    assert (status.pid, status.clients) == (os.getpid(), 1)
    assert client.pid == os.getpid()


async def test_concurrent_requests_get_their_own_answers(client: EngineClient) -> None:
    results = await asyncio.gather(*(client.complete(context("x" * n, document=str(n))) for n in range(20)))
    assert [result.usage.prompt_tokens for result in results] == list(range(20))


async def test_newer_request_supersedes_the_older(client: EngineClient) -> None:
    older = asyncio.create_task(client.complete(context("wait")))
    await client.status()
    newer = await client.complete(context())
    assert newer.text == "abcd"
    with pytest.raises(RequestCancelled, match="superseded"):
        await older


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("overloaded", Overloaded),
        ("internal", RequestError),
        ("model", errors.ModelNotFound),
        ("future", RequestError),
    ],
)
async def test_error_code_becomes_its_class(client: EngineClient, before: str, expected: type[ForetypeError]) -> None:
    with pytest.raises(ForetypeError) as raised:
        await client.complete(context(before))
    assert type(raised.value) is expected


async def test_cancelled_task_cancels_the_request(client: EngineClient) -> None:
    task = asyncio.create_task(client.complete(context("wait")))
    await client.status()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # The engine works on one request at a time: it has heard of the cancel.
    assert (await client.complete(context())).text == "abcd"
    assert (await client.status()).cancelled == 1


async def test_context_that_breaks_a_bound_is_refused_here(client: EngineClient) -> None:
    with pytest.raises(ProtocolError, match=r"Complete\.context\.before"):
        await client.complete(context("x" * (MAX_BEFORE + 1)))
    assert (await client.complete(context())).text == "abcd"


async def test_callback_that_fails_does_not_end_the_connection(
    client: EngineClient, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(text: str) -> None:
        raise ValueError(text)

    assert (await client.complete(context(), on_delta=fail)).text == "abcd"
    assert "ValueError" in caplog.text
    assert "ab" not in caplog.text.replace("callback", "")


async def test_closed_client_raises_at_once(client: EngineClient) -> None:
    assert not client.closed
    asking = asyncio.create_task(client.complete(context("wait")))
    await client.status()
    await client.aclose()
    await client.wait_closed()
    await client.aclose()
    assert client.closed
    with pytest.raises(EngineUnavailable):
        await asking
    for call in (client.complete(context()), client.warm(context()), client.status(), client.close_document("d")):
        with pytest.raises(EngineUnavailable):
            await call


# -- no engine, or a bad one ---------------------------------------------------------------------------------------


async def test_no_engine(runtime: RuntimePaths) -> None:
    with pytest.raises(EngineUnavailable, match="no engine is running"):
        await connect(name="test", paths=runtime)
    runtime.create()
    with pytest.raises(EngineUnavailable, match="no engine is running"):
        await connect(name="test", paths=runtime)
    with claim(runtime, "p"), pytest.raises(EngineUnavailable, match=rf"\(process {os.getpid()}\) is just starting"):
        await connect(name="test", paths=runtime)


async def test_open_folder_is_not_trusted(runtime: RuntimePaths, scripted: Scripted) -> None:
    await scripted()
    runtime.folder.chmod(0o755)
    with pytest.raises(SettingsError, match="open to others"):
        await connect(name="test", paths=runtime)


Conversation = Callable[["FakeEngine"], Awaitable[None]]


class FakeEngine:
    """The engine's end of one connection, word by word."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def say(self, *messages: EngineMessage) -> None:
        self.writer.write(b"".join(map(frame, messages)))

    async def hear(self) -> Message | None:
        payload = await read_frame(self.reader)
        return None if payload is None else decode(payload)


@asynccontextmanager
async def fake_engine(paths: RuntimePaths, converse: Conversation) -> AsyncIterator[None]:
    """Every client meets `converse`, and then the end of the connection."""
    met = asyncio.Event()
    ended: list[asyncio.Task[Any]] = []

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        ended.append(task)
        met.set()
        await converse(FakeEngine(reader, writer))
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()

    with claim(paths, "p") as listener:
        assert not isinstance(listener, Running)
        server = await asyncio.start_unix_server(attend, sock=listener)
        try:
            yield
        finally:
            async with asyncio.timeout(SOON):
                await met.wait()
                await asyncio.gather(*ended)
            server.close()


async def welcomed(engine: FakeEngine) -> None:
    assert isinstance(await engine.hear(), Hello)
    engine.say(WELCOME)


async def test_engine_of_another_version(runtime: RuntimePaths) -> None:
    async def converse(engine: FakeEngine) -> None:
        await engine.hear()
        engine.say(Welcome(PROTOCOL_VERSION + 1, "9", 1, State("ready", "p")))
        await engine.hear()

    async with fake_engine(runtime, converse):
        with pytest.raises(VersionMismatch, match=f"speaks protocol {PROTOCOL_VERSION + 1}"):
            await connect(name="test", paths=runtime)


async def test_engine_that_refuses(runtime: RuntimePaths) -> None:
    async def converse(engine: FakeEngine) -> None:
        await engine.hear()
        engine.say(Error(0, "version-mismatch", "update me"))
        await engine.hear()

    async with fake_engine(runtime, converse):
        with pytest.raises(VersionMismatch, match="update me"):
            await connect(name="test", paths=runtime)


async def test_engine_that_hangs_up(runtime: RuntimePaths) -> None:
    async def converse(engine: FakeEngine) -> None:
        pass

    async with fake_engine(runtime, converse):
        with pytest.raises(EngineUnavailable, match="hung up"):
            await connect(name="test", paths=runtime)


async def test_engine_that_hangs(runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    async def converse(engine: FakeEngine) -> None:
        while await engine.hear() is not None:
            pass

    monkeypatch.setattr(client_module, "WELCOME_TIMEOUT", 0.01)
    async with fake_engine(runtime, converse):
        with pytest.raises(EngineUnavailable, match="does not answer"):
            await connect(name="test", paths=runtime)


async def test_process_of_another_user_hears_nothing(runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Message | None] = []

    async def converse(engine: FakeEngine) -> None:
        heard.append(await engine.hear())

    monkeypatch.setattr(client_module, "same_user", lambda _socket: False)
    async with fake_engine(runtime, converse):
        with pytest.raises(EngineUnavailable, match="another user"):
            await connect(name="test", paths=runtime)
    assert heard in ([], [None])


@pytest.mark.parametrize("last_words", [b"", b"\x00\x00", b"\xff\xff\xff\xff", b"\x00\x00\x00\x01\xc1", frame(WELCOME)])
async def test_connection_that_breaks_fails_every_waiting_call(runtime: RuntimePaths, last_words: bytes) -> None:
    async def converse(engine: FakeEngine) -> None:
        await welcomed(engine)
        await engine.hear()
        await engine.hear()
        engine.writer.write(last_words)
        await engine.writer.drain()
        engine.writer.write_eof()
        await engine.reader.read()

    async with fake_engine(runtime, converse):
        client = await connect(name="test", paths=runtime)
        async with asyncio.timeout(SOON):
            answers = await asyncio.gather(client.complete(context()), client.status(), return_exceptions=True)
            await client.wait_closed()
    assert [type(answer) for answer in answers] == [EngineUnavailable] * 2
    assert client.closed


async def test_cancel_is_sent_and_the_late_reply_dropped(runtime: RuntimePaths) -> None:
    heard: list[Message | None] = []
    asked = asyncio.Event()

    async def converse(engine: FakeEngine) -> None:
        await welcomed(engine)
        heard.append(await engine.hear())
        asked.set()
        heard.append(await engine.hear())
        engine.say(Delta(1, "late"), Cancelled(1, "client", Usage()), Cancelled(1, "client", Usage()))
        heard.append(await engine.hear())
        engine.say(Result(2, "second", "loop", Usage()))
        await engine.hear()

    deltas: list[Delta] = []
    async with fake_engine(runtime, converse):
        client = await connect(name="test", paths=runtime)
        task = asyncio.create_task(client.complete(context(), on_delta=deltas.append))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await client.complete(context())).text == "second"
        await client.aclose()
    assert heard[1] == Cancel(1)
    assert deltas == []


async def test_document_is_closed(runtime: RuntimePaths) -> None:
    heard: list[Message | None] = []

    async def converse(engine: FakeEngine) -> None:
        await welcomed(engine)
        heard.append(await engine.hear())

    async with fake_engine(runtime, converse):
        client = await connect(name="test", paths=runtime)
        await client.close_document("d")
        await client.wait_closed()
    assert heard == [CloseDocument("d")]


async def test_wrong_kind_of_reply_is_a_protocol_error(runtime: RuntimePaths) -> None:
    async def converse(engine: FakeEngine) -> None:
        await welcomed(engine)
        assert isinstance(await engine.hear(), Status)
        engine.say(Result(1, "x", "loop", Usage()))
        await engine.hear()

    async with fake_engine(runtime, converse):
        client = await connect(name="test", paths=runtime)
        with pytest.raises(ProtocolError, match="unexpected Result"):
            await client.status()
        await client.aclose()


async def test_end_of_the_engine_reads_as_unavailable(runtime: RuntimePaths) -> None:
    async def converse(engine: FakeEngine) -> None:
        await welcomed(engine)
        await engine.hear()
        engine.say(Cancelled(1, "shutdown", Usage()))
        await engine.hear()

    async with fake_engine(runtime, converse):
        client = await connect(name="test", paths=runtime)
        with pytest.raises(EngineUnavailable, match="is ending"):
            await client.complete(context())
        await client.aclose()


async def test_engine_that_stops_reading_costs_no_memory(
    runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = asyncio.Event()

    async def converse(engine: FakeEngine) -> None:
        await welcomed(engine)
        await released.wait()

    monkeypatch.setattr(engine_client, "MAX_UNSENT", 100_000)
    async with fake_engine(runtime, converse):
        client = await connect(name="test", paths=runtime)
        asking = [asyncio.create_task(client.complete(context("x" * 90_000, document=str(n)))) for n in range(60)]
        async with asyncio.timeout(SOON):
            answers = await asyncio.gather(*asking, return_exceptions=True)
        assert {type(answer) for answer in answers} == {EngineUnavailable}
        released.set()


def test_every_code_of_the_tree_is_known() -> None:
    classes = error_classes()
    named = {value.code for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)}
    assert named - {"internal"} == set(classes)


async def test_another_pair_is_in_use_once_it_is_answered(
    runtime: RuntimePaths, serve_here: Callable[[Backend], Awaitable[Hub]]
) -> None:
    """Over the real socket: requests before and after, states for all, a second asker refused, the end in between."""
    backend = ScriptedBackend(Script(rules=(Rule("new", pair="other"), Rule("old")), pairs=("other", "slow")))
    hub = await serve_here(backend)
    states: list[State] = []
    one = await connect(name="one", paths=runtime)
    two = await connect(name="two", paths=runtime, on_state=states.append)
    try:
        assert (await one.complete(context("x"))).text == "old"
        assert await one.use_pair("other") == PairInUse(2, "other", 0.0)
        assert (await one.complete(context("x"))).text == "new"
        await two.status()
        assert (two.state.phase, two.state.pair) == ("ready", "other")
        assert {state.phase for state in states} <= {"loading", "ready"}
        with pytest.raises(SettingsError, match="no pair is called 'nonsense'"):
            await two.use_pair("nonsense")
        backend._pairs._load_s = 3_600.0
        waiting = asyncio.create_task(one.use_pair("slow"))
        await one.status()  # behind it
        with pytest.raises(RequestError, match="just switching"):
            await two.use_pair("slow")
        ending = asyncio.create_task(hub.stop())
        with pytest.raises(EngineUnavailable):
            await waiting
        await ending
    finally:
        await one.aclose()
        await two.aclose()
