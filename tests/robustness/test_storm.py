"""Many requests, most of them cancelled: exactly one reply per id, and the last one is answered."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from completion_server.client import connect
from completion_server.connection import Connection
from completion_server.errors import RequestCancelled
from completion_server.paths import RuntimePaths
from completion_server.protocol import Cancel, Cancelled, Complete, Context, Delta, Error, Message, Result, Status
from completion_server.protocol.frames import frame
from completion_server.scripted import Rule, ScriptedBackend

Scripted = Callable[..., Awaitable[ScriptedBackend]]
RawClient = Callable[[], Awaitable[Any]]
SOON = 20.0
STORM = 70


async def last_replies(client: Any, count: int) -> list[Message]:
    replies: list[Message] = []
    while len(replies) < count:
        message = await client.receive()
        assert message is not None
        if not isinstance(message, Delta):
            replies.append(message)
    return replies


async def test_each_request_is_cancelled_by_the_next(scripted: Scripted, raw_client: RawClient) -> None:
    await scripted(Rule("never", match="wait", delay_ms=3_600_000), Rule("last"))
    client = await raw_client()
    await client.greet()
    for request in range(1, STORM):
        client.send(Complete(request, Context(str(request), 1, "wait", ""), stream=True), Cancel(request))
    client.send(Complete(STORM, Context("d", 1, "", ""), stream=True))
    replies = await last_replies(client, STORM)
    assert Counter(reply.id for reply in replies) == Counter(range(1, STORM + 1))  # type: ignore[union-attr]
    assert {type(reply) for reply in replies[:-1]} == {Cancelled}
    last = replies[-1]
    assert isinstance(last, Result)
    assert last.text == "last"
    client.send(Status(STORM + 1))
    status = await client.receive()
    assert (status.completed, status.cancelled, status.running, status.queued) == (1, STORM - 1, 0, 0)


async def test_each_request_is_superseded_by_the_next(scripted: Scripted, runtime: RuntimePaths) -> None:
    await scripted(Rule("slow", match="wait", delay_ms=3_600_000), Rule("last"))
    client = await connect(name="storm", paths=runtime)
    older = [asyncio.create_task(client.complete(Context("d", version, "wait", ""))) for version in range(1, STORM)]
    await client.status()
    async with asyncio.timeout(SOON):
        assert (await client.complete(Context("d", STORM, "", ""))).text == "last"
        ends = await asyncio.gather(*older, return_exceptions=True)
    assert {type(end) for end in ends} == {RequestCancelled}
    await client.aclose()


@pytest.mark.parametrize("seed", range(5))
async def test_random_traffic_is_settled_to_the_last_id(scripted: Scripted, raw_client: RawClient, seed: int) -> None:
    await scripted(
        Rule("never", match="wait", delay_ms=3_600_000),
        Rule("no", match="error", error="request"),
        Rule("ab", chunks=2),
    )
    chance = random.Random(seed)
    client = await raw_client()
    await client.greet()
    requests = range(1, 201)
    for request in requests:
        before = chance.choice(["wait", "error", ""])
        client.send(Complete(request, Context(chance.choice("abc"), 1, before, ""), stream=True))
        if chance.random() < 0.5:
            client.send(Cancel(chance.randint(1, request)))
        if chance.random() < 0.2:
            await asyncio.sleep(0)
    client.send(*map(Cancel, requests))
    replies = await last_replies(client, len(requests))
    assert Counter(reply.id for reply in replies) == Counter(requests)  # type: ignore[union-attr]
    assert {type(reply) for reply in replies} <= {Result, Cancelled, Error}
    client.send(Status(1_000))
    assert (await client.receive()).id == 1_000


async def test_several_clients_at_once(scripted: Scripted, runtime: RuntimePaths) -> None:
    await scripted(Rule("x"))
    clients = [await connect(name=str(number), paths=runtime) for number in range(8)]
    async with asyncio.timeout(SOON):
        for _ in range(5):
            results = await asyncio.gather(*(client.complete(Context("d", 1, "", "")) for client in clients))
            assert [result.text for result in results] == ["x"] * len(clients)
    for client in clients:
        await client.aclose()


async def test_flood_of_messages_lets_others_have_their_turn() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(frame(Status(1)) * 100)
    connection = Connection(1, reader, cast("asyncio.StreamWriter", None))
    turns = itertools.count()

    async def other() -> None:
        while next(turns) >= 0:  # noqa: ASYNC110
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    for _ in range(100):
        assert await connection.receive() is not None
    assert next(turns) >= 100
    task.cancel()
