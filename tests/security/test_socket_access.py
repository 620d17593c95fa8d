"""Only the user's own processes reach the engine, and no text of the user's reaches a log."""

import logging
import os
import socket
import stat
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from completion_server import hub as hub_module
from completion_server.client import connect, connect_or_start
from completion_server.errors import EngineUnavailable, ForetypeError, SettingsError
from completion_server.paths import RuntimePaths
from completion_server.peer import same_user
from completion_server.protocol import Context, Snippet
from completion_server.scripted import Rule, ScriptedBackend

Scripted = Callable[..., Awaitable[ScriptedBackend]]
RawClient = Callable[[], Awaitable[Any]]
Command = Callable[..., list[str]]
SOON = 20.0


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
async def test_nobody_else_may_enter(runtime: RuntimePaths, scripted_command: Command, umask: int) -> None:
    old = os.umask(umask)
    try:
        client = await connect_or_start(name="test", paths=runtime, command=scripted_command())
    finally:
        os.umask(old)
    assert stat.S_IMODE(runtime.folder.stat().st_mode) == 0o700
    for file in (runtime.socket, runtime.lock, runtime.log):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    await client.shutdown()
    await client.wait_closed()


def test_engine_refuses_a_folder_that_others_may_enter(runtime: RuntimePaths, scripted_command: Command) -> None:
    runtime.folder.mkdir()
    runtime.folder.chmod(0o777)
    done = subprocess.run(scripted_command(), capture_output=True, timeout=SOON, check=False)
    assert done.returncode == 1
    assert b"is open to others" in done.stderr
    assert not runtime.socket.exists()


async def test_client_starts_nothing_in_a_folder_that_others_may_enter(
    runtime: RuntimePaths, scripted_command: Command
) -> None:
    runtime.folder.mkdir()
    runtime.folder.chmod(0o777)
    with pytest.raises(SettingsError, match="is open to others"):
        await connect_or_start(name="test", paths=runtime, command=scripted_command())
    assert not runtime.log.exists()


async def test_process_of_another_user_is_hung_up_on(
    scripted: Scripted, raw_client: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scripted(Rule("x"))
    monkeypatch.setattr(hub_module, "same_user", lambda _socket: False)
    stranger = await raw_client()
    assert await stranger.receive() is None


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="SO_PEERCRED is Linux's")
def test_peer_is_known_by_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert same_user(one)
        uid = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: uid + 1)
        assert not same_user(one)


async def test_no_user_text_in_logs_and_errors(
    scripted: Scripted, runtime: RuntimePaths, raw_client: RawClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "SECRET-4711"
    await scripted(Rule(match="fail", error="request"), Rule(text=secret, chunks=2))
    client = await connect(name="test", paths=runtime)
    context = Context(secret, 1, secret, secret, secret, secret, (Snippet(secret, secret),))
    assert (await client.complete(context, on_delta=lambda _text: None)).text == secret
    messages = []
    for wrong in (
        Context(secret, 1, secret + "fail", ""),
        Context(secret, 1, secret * 100_000, ""),
        Context(secret, 1, secret + "\ud800", ""),
        Context(secret * 1_000, 1, "", ""),
    ):
        with pytest.raises(ForetypeError) as raised:
            await client.complete(wrong)
        messages.append(str(raised.value))
    await client.aclose()
    raw = await raw_client()
    raw.send_bytes(b"\x00\x00\x00\x0d\x81\xab" + secret.encode())
    messages.append((await raw.receive()).message)
    with pytest.raises(EngineUnavailable) as late:
        await client.complete(context)
    messages.append(str(late.value))
    assert "client" in caplog.text
    assert secret not in caplog.text + "".join(messages)
