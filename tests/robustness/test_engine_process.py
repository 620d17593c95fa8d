"""The engine as a process: it starts once, ends when told to, and its death is noticed at once."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from completion_server.client import EngineClient, connect, connect_or_start
from completion_server.errors import EngineUnavailable
from completion_server.paths import RuntimePaths
from completion_server.protocol import Context

SOON = 20.0
WAITING = {"match": "wait", "text": "late", "delay_ms": 3_600_000}

Command = Callable[..., list[str]]
Start = Callable[..., Awaitable[tuple["subprocess.Popen[bytes]", EngineClient]]]


def spawn(command: list[str], **pipes: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, **pipes)  # type: ignore[call-overload,no-any-return]


async def answering(paths: RuntimePaths) -> EngineClient:
    async with asyncio.timeout(SOON):
        while True:
            try:
                return await connect(name="test", paths=paths)
            except EngineUnavailable:
                await asyncio.sleep(0.01)


@pytest.fixture
async def start(runtime: RuntimePaths, scripted_command: Command) -> AsyncIterator[Start]:
    """Starts an engine as a child of the test, and a client of it."""
    engines: list[subprocess.Popen[bytes]] = []
    clients: list[EngineClient] = []

    async def start_engine(*options: str, **script: object) -> tuple[subprocess.Popen[bytes], EngineClient]:
        command = scripted_command(*options, rules=[WAITING, {"text": "x"}], **script)
        engine = spawn(command, stderr=subprocess.PIPE)
        engines.append(engine)
        client = await answering(runtime)
        clients.append(client)
        return engine, client

    yield start_engine
    for client in clients:
        await client.aclose()
    for engine in engines:
        engine.kill()
        engine.communicate()


def waiting(client: EngineClient) -> "asyncio.Task[object]":
    return asyncio.create_task(client.complete(Context("d", 1, "wait", "")))


async def test_killed_engine_is_noticed_and_replaced(
    start: Start, runtime: RuntimePaths, scripted_command: Command
) -> None:
    engine, client = await start()
    asking = waiting(client)
    await client.status()
    engine.kill()
    async with asyncio.timeout(SOON):
        with pytest.raises(EngineUnavailable):
            await asking
        await client.wait_closed()
    assert runtime.socket.exists()  # nobody was left to remove it
    command = scripted_command(rules=[{"text": "again"}])
    successor = await connect_or_start(name="test", paths=runtime, command=command)
    assert successor.pid != engine.pid
    assert (await successor.complete(Context("d", 1, "", ""))).text == "again"
    await successor.shutdown()
    await successor.wait_closed()


@pytest.fixture
def _signals_are_heard() -> Iterator[None]:
    """A child inherits that a signal is ignored, and tests may run under nohup or in the background of a shell."""
    ignored = [number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.mark.usefixtures("_signals_are_heard")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_signal_ends_it_in_order(start: Start, runtime: RuntimePaths, number: signal.Signals) -> None:
    engine, client = await start()
    asking = waiting(client)
    await client.status()
    began = time.monotonic()
    engine.send_signal(number)
    async with asyncio.timeout(SOON):
        with pytest.raises(EngineUnavailable, match="is ending"):
            await asking
        await client.wait_closed()
    assert await asyncio.to_thread(engine.wait, SOON) == 0
    assert time.monotonic() - began < SOON
    assert not runtime.socket.exists()


async def test_ignored_hangup_stays_ignored(start: Start) -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        engine, client = await start()
    finally:
        signal.signal(signal.SIGHUP, old)
    engine.send_signal(signal.SIGHUP)
    assert (await client.complete(Context("d", 1, "", ""))).text == "x"
    engine.terminate()
    assert await asyncio.to_thread(engine.wait, SOON) == 0


async def test_client_that_never_reads_does_not_hold_up_the_end(start: Start, runtime: RuntimePaths) -> None:
    engine, client = await start()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(os.fspath(runtime.socket))
        await client.status()
        engine.terminate()
        assert await asyncio.to_thread(engine.wait, SOON) == 0


async def test_two_engines_started_together_are_one(runtime: RuntimePaths, scripted_command: Command) -> None:
    command = scripted_command(rules=[{"text": "x"}])
    for _ in range(3):
        engines = [spawn(command, stderr=subprocess.PIPE) for _ in range(4)]
        client = await answering(runtime)
        losers = [engine for engine in engines if engine.pid != client.pid]
        assert len(losers) == 3
        for loser in losers:
            _out, said = await asyncio.to_thread(loser.communicate, timeout=SOON)
            assert loser.returncode == 0
            assert b"an engine runs already" in said
        assert (await client.complete(Context("d", 1, "", ""))).text == "x"
        await client.shutdown()
        await client.wait_closed()
        [winner] = [engine for engine in engines if engine.pid == client.pid]
        await asyncio.to_thread(winner.communicate, timeout=SOON)
        assert winner.returncode == 0


async def test_two_front_ends_started_together_share_an_engine(
    runtime: RuntimePaths, scripted_command: Command
) -> None:
    code = (
        "import asyncio, sys\n"
        "from completion_server.client import connect_or_start\n"
        "async def main():\n"
        "    client = await connect_or_start(name='front end', command=sys.argv[1:])\n"
        "    print(client.pid)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", code, *scripted_command()]
    front_ends = [spawn(command, stdout=subprocess.PIPE) for _ in range(3)]
    pids = set()
    for front_end in front_ends:
        out, _err = await asyncio.to_thread(front_end.communicate, timeout=SOON)
        assert front_end.returncode == 0
        pids.add(int(out))
    assert len(pids) == 1
    # It outlives those that started it.
    client = await connect(name="test", paths=runtime)
    assert {client.pid} == pids
    await client.shutdown()
    await client.wait_closed()


async def test_engine_ends_with_the_process_that_started_it(runtime: RuntimePaths, scripted_command: Command) -> None:
    command = scripted_command("--exit-with-parent")
    code = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
    parent = spawn([sys.executable, "-c", code, *command], stderr=subprocess.DEVNULL)
    client = await answering(runtime)
    assert client.pid != parent.pid
    parent.kill()
    parent.wait()
    async with asyncio.timeout(SOON):
        await client.wait_closed()
        # Not a child of the test, so that its very end can only be looked for.
        while runtime.socket.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_idle_engine_ends(start: Start, runtime: RuntimePaths) -> None:
    engine, client = await start("--exit-after-idle", "0.2")
    async with asyncio.timeout(SOON):
        await client.wait_closed()
    assert await asyncio.to_thread(engine.wait, SOON) == 0
    assert not runtime.socket.exists()


async def test_engine_that_cannot_load_says_so_and_makes_room(start: Start, runtime: RuntimePaths) -> None:
    engine, client = await start("--exit-after-idle", "3600", load_error="pull it first")
    async with asyncio.timeout(SOON):
        await client.wait_closed()
    assert client.state.detail == "pull it first" or client.state.phase == "stopping"
    assert await asyncio.to_thread(engine.wait, SOON) == 0
    assert not runtime.socket.exists()


async def test_busy_engine_does_not_end(start: Start) -> None:
    _engine, client = await start("--exit-after-idle", "0.2")
    asking = waiting(client)
    # Three times what an idle engine is given: time itself is what is tested.
    done, _pending = await asyncio.wait([asking], timeout=0.6)
    assert not done
    assert not client.closed
    asking.cancel()


def test_wrong_script_is_one_line_and_an_exit_code(runtime: RuntimePaths, scripted_command: Command) -> None:
    done = subprocess.run(scripted_command(rule=[]), capture_output=True, timeout=SOON, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: a script is a JSON object")
    assert done.stderr.count(b"\n") == 1


def test_client_and_server_import_no_torch() -> None:
    code = (
        "import sys, completion_server.client, completion_server.server, completion_server.scripted\n"
        "print({'torch', 'transformers', 'platformdirs', 'typer', 'pygls'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=SOON, check=True, text=True)
    assert done.stdout.strip() == "set()"
