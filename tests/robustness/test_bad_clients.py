"""A client that breaks the protocol, stalls or does not read costs itself alone."""

import asyncio
import functools
import itertools
import random
import resource
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from completion_server import connection as connection_module
from completion_server.client import connect
from completion_server.paths import RuntimePaths
from completion_server.protocol import Context, Error, Hello, Status, StatusReply
from completion_server.protocol.frames import MAX_FRAME, frame, read_frame
from completion_server.scripted import Rule, ScriptedBackend

Scripted = Callable[..., Awaitable[ScriptedBackend]]
RawClient = Callable[[], Awaitable[Any]]
SOON = 20.0


async def good_as_ever(paths: RuntimePaths) -> None:
    """A well-behaved client gets its suggestion."""
    async with asyncio.timeout(SOON):
        client = await connect(name="good", paths=paths)
        assert (await client.complete(Context("d", 1, "", ""))).text == "good"
        await client.aclose()


@pytest.fixture
async def bad(scripted: Scripted, raw_client: RawClient) -> Any:
    """A client that has said hello properly."""
    await scripted(Rule("good"))
    client = await raw_client()
    await client.greet()
    return client


@pytest.mark.parametrize("seed", range(20))
async def test_garbage_after_the_handshake(bad: Any, runtime: RuntimePaths, seed: int) -> None:
    bad.send_bytes(random.Random(seed).randbytes(5_000))
    bad.writer.write_eof()
    while (answer := await bad.receive()) is not None:
        assert isinstance(answer, Error)
    await good_as_ever(runtime)


@pytest.mark.parametrize("seed", range(20))
async def test_garbage_in_place_of_a_hello(
    scripted: Scripted, raw_client: RawClient, runtime: RuntimePaths, seed: int
) -> None:
    await scripted(Rule("good"))
    bad = await raw_client()
    bad.send_bytes(random.Random(seed).randbytes(5_000))
    bad.writer.write_eof()
    error = await bad.receive()
    assert error is None or isinstance(error, Error)
    assert error is None or await bad.receive() is None
    await good_as_ever(runtime)


async def test_http_request(scripted: Scripted, raw_client: RawClient, runtime: RuntimePaths) -> None:
    await scripted(Rule("good"))
    bad = await raw_client()
    bad.send_bytes(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert isinstance(await bad.receive(), Error)
    assert await bad.receive() is None
    await good_as_ever(runtime)


@pytest.mark.parametrize("kept", [0, 1, 4, 10])
async def test_frame_that_is_cut_off(bad: Any, runtime: RuntimePaths, kept: int) -> None:
    bad.send_bytes(frame(Status(1))[:kept])
    bad.writer.write_eof()
    error = await bad.receive()
    if kept:
        assert isinstance(error, Error)
        assert error.id == 0
        assert await bad.receive() is None
    else:
        assert error is None
    await good_as_ever(runtime)


@pytest.mark.parametrize("length", [MAX_FRAME + 1, 2**31, 2**32 - 1])
async def test_giant_length(bad: Any, runtime: RuntimePaths, length: int) -> None:
    bad.send_bytes(length.to_bytes(4, "big"))
    error = await bad.receive()
    assert isinstance(error, Error)
    assert str(length) in error.message
    assert await bad.receive() is None
    await good_as_ever(runtime)


async def test_largest_frame_full_of_garbage_keeps_the_stream_in_step(bad: Any, runtime: RuntimePaths) -> None:
    bad.send_bytes(MAX_FRAME.to_bytes(4, "big") + b"\x90" * MAX_FRAME)
    bad.send(Status(1))
    assert isinstance(await bad.receive(), Error)
    assert isinstance(await bad.receive(), StatusReply)


async def test_slow_loris(
    monkeypatch: pytest.MonkeyPatch, scripted: Scripted, raw_client: RawClient, runtime: RuntimePaths
) -> None:
    monkeypatch.setattr(connection_module, "read_frame", functools.partial(read_frame, frame_timeout=0.05))
    await scripted(Rule("good"))
    bad = await raw_client()
    await bad.greet()
    whole = frame(Status(1))
    bad.send_bytes(whole[:5])
    await good_as_ever(runtime)
    error = await bad.receive()
    assert isinstance(error, Error)
    assert "not complete" in error.message
    assert await bad.receive() is None


async def test_client_that_never_reads_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, scripted: Scripted, raw_client: RawClient, runtime: RuntimePaths
) -> None:
    monkeypatch.setattr(connection_module, "MAX_UNREAD", 200_000)
    await scripted(Rule("good"))
    bad = await raw_client()
    await bad.greet()
    bad.reader._transport.pause_reading()
    requests = itertools.count(1)
    async with asyncio.timeout(SOON):
        while not bad.writer.is_closing():
            bad.send(Status(next(requests)))
            await asyncio.sleep(0)
    await good_as_ever(runtime)


async def test_bad_clients_by_the_hundred_leak_nothing(
    scripted: Scripted, raw_client: RawClient, runtime: RuntimePaths
) -> None:
    await scripted(Rule("good"))
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert descriptors > 100
    for seed in range(200):
        _reader, writer = await asyncio.open_unix_connection(runtime.socket)
        if seed % 2:
            writer.write(frame(Hello(1, "bad", "0")))
        writer.write(random.Random(seed).randbytes(20))
        writer.transport.abort()
    await good_as_ever(runtime)
    client = await connect(name="good", paths=runtime)
    async with asyncio.timeout(SOON):
        while (await client.status()).clients > 1:
            pass
    await client.aclose()
