"""The server answers every request exactly once, whatever client and backend do."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import msgpack
import pytest

from completion_server import connection as connection_module
from completion_server import hub as hub_module
from completion_server.backend import Backend, Reply
from completion_server.client import EngineClient, connect
from completion_server.errors import EngineUnavailable, Overloaded
from completion_server.hub import Hub
from completion_server.instance import Running, claim
from completion_server.ledger import MAX_OPEN
from completion_server.paths import RuntimePaths
from completion_server.protocol import (
    PROTOCOL_VERSION,
    Cancel,
    Cancelled,
    Complete,
    Context,
    Delta,
    Error,
    Goodbye,
    Hello,
    Message,
    Result,
    Shutdown,
    State,
    Status,
    StatusReply,
    TokenScore,
    Usage,
    Warm,
    Welcome,
)
from completion_server.protocol.codec import encode
from completion_server.scripted import Rule, Script, ScriptedBackend
from completion_server.server import serve

NEVER = Rule("late", match="wait", delay_ms=3_600_000)
SOON = 20.0

Scripted = Callable[..., Awaitable[ScriptedBackend]]
ServeHere = Callable[[Backend], Awaitable[Hub]]
RawClient = Callable[[], Awaitable[Any]]


def complete(request: int, before: str = "", document: str = "d", stream: bool = False) -> Complete:
    return Complete(request, Context(document, request, before, ""), stream=stream)


def framed(value: object) -> bytes:
    payload: bytes = msgpack.packb(value)
    return len(payload).to_bytes(4, "big") + payload


def broken(message: Message, **fields: object) -> bytes:
    return framed({**msgpack.unpackb(encode(message)), **fields})


# -- the handshake -------------------------------------------------------------------------------------------------


async def test_hello_is_welcomed(scripted: Scripted, raw_client: RawClient) -> None:
    await scripted()
    welcome = await (await raw_client()).greet()
    assert (welcome.protocol, welcome.pid, welcome.state.pair) == (PROTOCOL_VERSION, os.getpid(), "scripted")


@pytest.mark.parametrize(
    "first",
    [
        complete(1),
        Status(1),
        Result(1, "x", "loop", Usage()),
        Welcome(PROTOCOL_VERSION, "0", 1, State("ready", "p")),
    ],
    ids=lambda message: type(message).__name__,
)
async def test_anything_before_hello_is_refused(scripted: Scripted, raw_client: RawClient, first: Message) -> None:
    backend = await scripted()
    client = await raw_client()
    client.send(first)
    assert await client.receive() == Error(0, "protocol", "the first message must be a hello")
    assert await client.receive() is None
    assert not backend.requests


@pytest.mark.parametrize("more", [{}, {"a field of the future": 1}])
async def test_other_version_is_told_what_to_do(scripted: Scripted, raw_client: RawClient, more: Any) -> None:
    await scripted()
    client = await raw_client()
    client.send_bytes(broken(Hello(PROTOCOL_VERSION + 1, "test", "9"), **more))
    error = await client.receive()
    assert isinstance(error, Error)
    assert (error.id, error.code) == (0, "version-mismatch")
    assert "update the older" in error.message
    assert await client.receive() is None


async def test_silence_is_not_waited_for(
    scripted: Scripted, raw_client: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "HELLO_TIMEOUT", 0.01)
    await scripted()
    client = await raw_client()
    assert await client.receive() == Error(0, "protocol", "no hello within 0.01 s")
    assert await client.receive() is None


async def test_stranger_gets_no_megabyte(scripted: Scripted, raw_client: RawClient) -> None:
    await scripted()
    client = await raw_client()
    client.send_bytes((5_000).to_bytes(4, "big"))
    error = await client.receive()
    assert isinstance(error, Error)
    assert "the limit is 4096" in error.message
    assert await client.receive() is None


async def test_second_hello_is_an_error_and_nothing_more(scripted: Scripted, raw_client: RawClient) -> None:
    await scripted(Rule("x"))
    client = await raw_client()
    await client.greet()
    client.send(Hello(PROTOCOL_VERSION, "again", "0"), complete(1))
    error = await client.receive()
    assert isinstance(error, Error)
    assert error.id == 0
    assert isinstance(await client.receive(), Result)


async def test_the_name_of_a_client_cannot_forge_lines_of_the_log(
    scripted: Scripted, raw_client: RawClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    await scripted()
    client = await raw_client()
    client.send(Hello(PROTOCOL_VERSION, "a\nERROR b", "0"))
    await client.receive()
    client.send(Status(1))
    await client.receive()
    assert "(?) connected" in caplog.text
    assert "ERROR b" not in caplog.text


async def test_too_many_clients_are_turned_away(
    scripted: Scripted, raw_client: RawClient, runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "MAX_CLIENTS", 1)
    await scripted()
    first = await raw_client()
    await first.greet()
    second = await raw_client()
    second.send(Hello(PROTOCOL_VERSION, "second", "0"))
    error = await second.receive()
    assert isinstance(error, Error)
    assert (error.id, error.code) == (0, "overloaded")
    assert await second.receive() is None
    with pytest.raises(Overloaded, match=f"1 clients are connected to the engine.* end process {os.getpid()}"):
        await connect(name="third", paths=runtime)
    first.send(Status(1))
    assert isinstance(await first.receive(), StatusReply)


async def test_no_more_are_told_than_are_let_in(
    scripted: Scripted, raw_client: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "MAX_CLIENTS", 1)
    monkeypatch.setattr(hub_module, "MAX_TURNED_AWAY", 1)
    await scripted()
    first = await raw_client()
    await first.greet()
    silent, third = await raw_client(), await raw_client()
    assert await third.receive() is None
    silent.send(Hello(PROTOCOL_VERSION, "silent", "0"))
    assert isinstance(await silent.receive(), Error)


# -- one reply per request -----------------------------------------------------------------------------------------


async def test_deltas_then_the_result(scripted: Scripted, raw_client: RawClient) -> None:
    await scripted(Rule("abcd", chunks=2))
    client = await raw_client()
    await client.greet()
    client.send(complete(1, stream=True))
    assert await client.receive() == Delta(1, "ab", (TokenScore(2, 0.0),))
    assert await client.receive() == Delta(1, "cd", (TokenScore(4, 0.0),))
    result = await client.receive()
    assert isinstance(result, Result)
    assert result.text == "abcd"


async def test_wrong_field_is_answered_under_its_id_and_the_connection_goes_on(
    scripted: Scripted, raw_client: RawClient
) -> None:
    await scripted(Rule("x"))
    client = await raw_client()
    await client.greet()
    client.send_bytes(broken(complete(5), stream="yes"))
    assert await client.receive() == Error(5, "protocol", "Complete.stream: not a bool")
    client.send(complete(5))
    assert isinstance(await client.receive(), Result)


async def test_unreadable_payload_is_answered_under_id_0_and_the_connection_goes_on(
    scripted: Scripted, raw_client: RawClient
) -> None:
    await scripted(Rule("x"))
    client = await raw_client()
    await client.greet()
    client.send_bytes(b"\x00\x00\x00\x01\xc1")
    client.send_bytes(broken(Cancel(5), more=1))
    for _ in range(2):
        error = await client.receive()
        assert isinstance(error, Error)
        assert error.id == 0
    client.send(complete(1))
    assert isinstance(await client.receive(), Result)


async def test_id_that_is_open_cannot_be_used_again(scripted: Scripted, raw_client: RawClient) -> None:
    backend = await scripted(NEVER)
    client = await raw_client()
    await client.greet()
    client.send(complete(1, "wait"), complete(1, document="e"), Warm(1, Context("e", 1, "", "")), Status(1))
    client.send_bytes(broken(complete(1), stream="yes"))
    for _ in range(4):
        error = await client.receive()
        assert isinstance(error, Error)
        assert (error.id, error.code) == (0, "protocol")
    client.send(Cancel(1))
    cancelled = await client.receive()
    assert isinstance(cancelled, Cancelled)
    assert (cancelled.id, cancelled.reason) == (1, "client")
    assert len(backend.requests) == 1
    client.send(Status(2))
    assert isinstance(await client.receive(), StatusReply)


async def test_unknown_cancel_is_ignored(scripted: Scripted, raw_client: RawClient) -> None:
    await scripted()
    client = await raw_client()
    await client.greet()
    client.send(Cancel(77), Status(1))
    assert isinstance(await client.receive(), StatusReply)


@pytest.mark.parametrize("message", [Goodbye(1), State("ready", "p"), Result(1, "x", "loop", Usage())])
async def test_engine_message_from_a_client_is_an_error(
    scripted: Scripted, raw_client: RawClient, message: Message
) -> None:
    await scripted()
    client = await raw_client()
    await client.greet()
    client.send(message, Status(1))
    error = await client.receive()
    assert isinstance(error, Error)
    assert error.id == 0
    assert isinstance(await client.receive(), StatusReply)


class Misbehaving(ScriptedBackend):
    """Does to each request what the text before its cursor says."""

    def submit(self, client: int, request: Complete | Warm, received: float, reply: Reply) -> None:
        match request.context.before:
            case "raise":
                raise RuntimeError(f"cannot read {request.context.after}")
            case "reply and raise":
                reply(Result(request.id, "x", "loop", Usage()))
                raise RuntimeError
            case "reply twice":
                reply(Result(request.id, "first", "loop", Usage()))
                reply(Delta(request.id, "late"))
                reply(Result(request.id, "second", "loop", Usage()))
            case "reply to another":
                reply(Result(request.id + 1_000, "x", "loop", Usage()))
                reply(Result(request.id, "x", "loop", Usage()))
            case "break the protocol":
                reply(Delta(request.id, "\ud800"))
            case "silence":
                pass
            case _:
                reply(Result(request.id, "good", "end-of-text", Usage()))


@pytest.fixture
async def misbehaving(serve_here: ServeHere, raw_client: RawClient) -> Any:
    await serve_here(Misbehaving(Script()))
    client = await raw_client()
    await client.greet()
    return client


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("raise", Error(1, "internal", "internal error (RuntimeError)")),
        ("reply twice", Result(1, "first", "loop", Usage())),
        ("reply to another", Result(1, "x", "loop", Usage())),
        ("break the protocol", Error(1, "request", "the engine's reply broke the protocol")),
    ],
)
async def test_one_reply_whatever_the_backend_does(misbehaving: Any, before: str, expected: Message) -> None:
    misbehaving.send(complete(1, before), complete(2))
    first, second = await misbehaving.receive(), await misbehaving.receive()
    assert {first.id: first, second.id: second} == {1: expected, 2: Result(2, "good", "end-of-text", Usage())}
    misbehaving.send(Status(3))
    assert isinstance(await misbehaving.receive(), StatusReply)


async def test_reply_before_an_exception_and_no_second_one(misbehaving: Any) -> None:
    misbehaving.send(complete(1, "reply and raise"), complete(2), Status(3))
    replies = [await misbehaving.receive() for _ in range(3)]
    assert sorted(reply.id for reply in replies) == [1, 2, 3]


async def test_message_of_a_foreign_exception_goes_nowhere(misbehaving: Any, caplog: pytest.LogCaptureFixture) -> None:
    misbehaving.send(Complete(1, Context("d", 1, "raise", "SECRET")))
    error = await misbehaving.receive()
    assert "SECRET" not in error.message
    assert "SECRET" not in caplog.text


async def test_more_open_requests_than_any_editor_has_are_overloaded(misbehaving: Any) -> None:
    misbehaving.send(*(complete(request, "silence") for request in range(1, MAX_OPEN + 2)))
    error = await misbehaving.receive()
    assert (error.id, error.code) == (MAX_OPEN + 1, "overloaded")


# -- several clients, and what the engine tells of itself ----------------------------------------------------------


async def test_state_is_told_to_every_client(serve_here: ServeHere, runtime: RuntimePaths) -> None:
    class Tells(ScriptedBackend):
        def start(self, on_state: Callable[[State], None]) -> None:
            self.tell = on_state

    backend = Tells(Script())
    await serve_here(backend)
    heard: asyncio.Queue[tuple[str, State]] = asyncio.Queue()
    clients = [
        await connect(name=name, on_state=lambda state, name=name: heard.put_nowait((name, state)), paths=runtime)
        for name in ("a", "b")
    ]
    state = State("failed", "p", detail="x" * 10_000)
    threading.Thread(target=backend.tell, args=(state,)).start()
    async with asyncio.timeout(SOON):
        told = {await heard.get(), await heard.get()}
    assert {name for name, _state in told} == {"a", "b"}
    assert {len(state.detail) for _name, state in told} == {4_096}
    assert clients[0].state.phase == "failed"
    for client in clients:
        await client.aclose()


async def test_client_that_leaves_takes_its_requests_along(scripted: Scripted, runtime: RuntimePaths) -> None:
    await scripted(NEVER, Rule("x"))
    leaving = await connect(name="leaving", paths=runtime)
    asking = asyncio.create_task(leaving.complete(Context("d", 1, "wait", "")))
    staying = await connect(name="staying", paths=runtime)
    await leaving.status()  # the request before it has arrived
    await leaving.aclose()
    with pytest.raises(EngineUnavailable):
        await asking
    async with asyncio.timeout(SOON):
        # The scripted engine works on one request at a time.
        assert (await staying.complete(Context("d", 1, "", ""))).text == "x"
    status = await staying.status()
    assert (status.clients, status.cancelled, status.completed) == (1, 1, 1)
    await staying.aclose()


# -- the end -------------------------------------------------------------------------------------------------------


async def test_shutdown_is_answered_after_what_was_running(runtime: RuntimePaths, raw_client: RawClient) -> None:
    serving = asyncio.create_task(serve(ScriptedBackend(Script((NEVER,))), pair="p", paths=runtime))
    client = await connected(runtime)
    raw = await raw_client()
    await raw.greet()
    raw.send(complete(1, "wait"), Shutdown(2))
    cancelled = await raw.receive()
    assert isinstance(cancelled, Cancelled)
    assert (cancelled.id, cancelled.reason) == (1, "shutdown")
    assert await raw.receive() == Goodbye(2)
    assert await raw.receive() is None
    async with asyncio.timeout(SOON):
        assert await serving is None
        await client.wait_closed()
    assert not runtime.socket.exists()


async def connected(paths: RuntimePaths) -> EngineClient:
    """A client of an engine that is just starting."""
    async with asyncio.timeout(SOON):
        while True:
            try:
                return await connect(name="test", paths=paths)
            except EngineUnavailable:
                await asyncio.sleep(0)


async def test_backend_that_does_not_stop_is_left_behind(
    runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()

    class Stuck(Misbehaving):
        def stop(self, timeout: float) -> None:
            released.wait(SOON)

    monkeypatch.setattr(hub_module, "STOP_TIMEOUT", 0.05)
    serving = asyncio.create_task(serve(Stuck(Script()), pair="p", paths=runtime))
    client = await connected(runtime)
    asking = asyncio.create_task(client.complete(Context("d", 1, "silence", "")))
    await client.shutdown()
    with pytest.raises(EngineUnavailable, match="is ending"):
        await asking
    await client.wait_closed()
    await serving
    released.set()


async def test_backend_that_fails_to_stop_does_not_keep_the_process(runtime: RuntimePaths) -> None:
    class Raises(Misbehaving):
        def stop(self, timeout: float) -> None:
            raise RuntimeError

    serving = asyncio.create_task(serve(Raises(Script()), pair="p", paths=runtime))
    client = await connected(runtime)
    await client.shutdown()
    assert await serving is None
    await client.wait_closed()


async def test_idle_engine_ends(runtime: RuntimePaths) -> None:
    async with asyncio.timeout(SOON):
        assert await serve(ScriptedBackend(Script()), pair="p", paths=runtime, exit_after_idle_s=0.01) is None
    assert not runtime.socket.exists()


async def test_engine_ends_with_its_parent(runtime: RuntimePaths) -> None:
    not_the_parent = os.getpid()
    async with asyncio.timeout(SOON):
        await serve(ScriptedBackend(Script()), pair="p", paths=runtime, parent_pid=not_the_parent)


async def test_second_engine_finds_the_first_and_starts_nothing(runtime: RuntimePaths) -> None:
    class Unwanted(ScriptedBackend):
        def start(self, on_state: Callable[[State], None]) -> None:
            raise AssertionError

    with claim(runtime, "embedded"):
        found = await serve(Unwanted(Script()), pair="other", paths=runtime)
    assert found == Running(os.getpid(), "embedded")


async def test_backend_that_cannot_start_frees_the_folder(runtime: RuntimePaths) -> None:
    class Raises(ScriptedBackend):
        def start(self, on_state: Callable[[State], None]) -> None:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await serve(Raises(Script()), pair="p", paths=runtime)
    with claim(runtime, "p") as again:
        assert not isinstance(again, Running)
