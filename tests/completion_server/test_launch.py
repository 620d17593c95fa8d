"""An engine that is started from here: it answers, or its last words are in the error."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from completion_server import client as client_module
from completion_server import hub as hub_module
from completion_server.client import connect_or_start
from completion_server.errors import EngineUnavailable, Overloaded
from completion_server.instance import Running, claim, find_running
from completion_server.launch import launch
from completion_server.paths import RuntimePaths
from completion_server.protocol import Context
from completion_server.scripted import ScriptedBackend

SOON = 20.0


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def test_engine_is_started_and_found_again(
    runtime: RuntimePaths, scripted_command: Callable[..., list[str]]
) -> None:
    command = scripted_command(rules=[{"text": "x"}])
    first, second = await asyncio.gather(
        *(connect_or_start(name="test", paths=runtime, command=command) for _ in range(2))
    )
    third = await connect_or_start(name="test", paths=runtime, command=["not to be started"])
    assert first.pid == second.pid == third.pid != os.getpid()
    assert (await third.complete(Context("d", 1, "", ""))).text == "x"
    await third.shutdown()
    for client in (first, second, third):
        await client.wait_closed()


async def test_it_returns_while_the_models_load(
    runtime: RuntimePaths, scripted_command: Callable[..., list[str]]
) -> None:
    command = scripted_command(load_ms=3_600_000)
    client = await connect_or_start(name="test", paths=runtime, command=command)
    assert client.state.phase == "loading"
    await client.shutdown()
    await client.wait_closed()


async def test_early_end_is_told_with_its_last_words(runtime: RuntimePaths) -> None:
    command = python("import sys; print('loading'); print('error: no such pair\\n', file=sys.stderr); sys.exit(1)")
    with pytest.raises(EngineUnavailable, match=r"did not start: error: no such pair$"):
        await connect_or_start(name="test", paths=runtime, command=command)


async def test_early_end_without_words_is_told_with_its_exit_code(runtime: RuntimePaths) -> None:
    with pytest.raises(EngineUnavailable, match="exit code 3"):
        await connect_or_start(name="test", paths=runtime, command=python("raise SystemExit(3)"))


async def test_program_that_is_not_there(runtime: RuntimePaths) -> None:
    with pytest.raises(EngineUnavailable, match="cannot start the engine"):
        await connect_or_start(name="test", paths=runtime, command=["/nowhere/python"])


async def test_engine_that_never_answers(runtime: RuntimePaths) -> None:
    # Its current folder is the runtime folder: it ends when the test's folders are taken away.
    command = python("import os, time\nwhile os.path.isdir(os.getcwd()): time.sleep(0.01)")
    with pytest.raises(EngineUnavailable, match=r"no engine after 0\.05 s: no engine is running"):
        await connect_or_start(name="test", paths=runtime, timeout=0.05, command=command)


async def test_none_is_started_beside_an_engine_that_does_not_answer(runtime: RuntimePaths) -> None:
    with claim(runtime, "stuck") as held:
        assert not isinstance(held, Running)
        with pytest.raises(EngineUnavailable, match=rf"no engine after 0\.05 s: .*process {os.getpid()}.* hangs"):
            await connect_or_start(name="test", paths=runtime, timeout=0.05, command=["/nowhere/python"])


async def test_none_is_started_beside_an_engine_with_too_many_clients(
    scripted: Callable[..., Awaitable[ScriptedBackend]], runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "MAX_CLIENTS", 0)
    await scripted()
    with pytest.raises(Overloaded):
        await connect_or_start(name="test", paths=runtime, command=["/nowhere/python"])


async def test_an_engine_on_its_way_out_is_waited_for(
    runtime: RuntimePaths, scripted_command: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    def find(paths: RuntimePaths) -> Running | None:
        asked.set()
        return find_running(paths)

    monkeypatch.setattr(client_module, "find_running", find)
    command = scripted_command(rules=[{"text": "x"}])
    with claim(runtime, "ending") as held:
        assert not isinstance(held, Running)
        starting = asyncio.create_task(connect_or_start(name="test", paths=runtime, command=command))
        async with asyncio.timeout(SOON):
            await asked.wait()
    client = await starting
    await client.shutdown()
    await client.wait_closed()


async def test_start_that_gave_way_to_another_is_repeated(
    runtime: RuntimePaths, scripted_command: Callable[..., list[str]]
) -> None:
    """The first process is one that found another engine, which has ended since: exit code 0."""
    marker = runtime.folder.parent / "tried"
    real = scripted_command(rules=[{"text": "x"}])
    code = (
        f"import os; m = {str(marker)!r}\nif os.path.exists(m): os.execv({real[0]!r}, {real!r})\nopen(m, 'w').close()"
    )
    client = await connect_or_start(name="test", paths=runtime, command=python(code))
    assert marker.exists()
    await client.shutdown()
    await client.wait_closed()


async def test_child_is_detached_and_its_log_private(runtime: RuntimePaths) -> None:
    runtime.create()
    code = (
        "import os, sys; print(os.getsid(0) == os.getpid(), os.getcwd(), os.environ['FORETYPE_RUNTIME_DIR'], "
        "os.read(0, 1), sys.path[0] in ('', os.getcwd()))"
    )
    old = os.umask(0)
    try:
        launched = launch(runtime, command=python(code))
    finally:
        os.umask(old)
    assert launched.process.wait(SOON) == 0
    assert launched.last_line() == f"True {runtime.folder} {runtime.folder} b'' True"
    assert stat.S_IMODE(runtime.log.stat().st_mode) == 0o600


def test_module_in_the_current_folder_is_not_imported(
    runtime: RuntimePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "completion_server.py").write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(tmp_path)
    launched = launch(runtime, command=[sys.executable, "-m", "completion_server.scripted", "--help"])
    assert launched.process.wait(SOON) == 0


async def test_log_does_not_grow_from_start_to_start(runtime: RuntimePaths) -> None:
    for _ in range(3):
        launched = launch(runtime, command=python("print('x' * 1000)"))
        assert launched.process.wait(SOON) == 0
    assert runtime.log.stat().st_size == 1_002


async def test_log_of_an_engine_that_runs_is_kept(runtime: RuntimePaths) -> None:
    with claim(runtime, "p"):
        runtime.log.write_text("what it has said\n")
        launched = launch(runtime, command=python("print('an engine runs already')"))
        assert launched.process.wait(SOON) == 0
    assert runtime.log.read_text() == "what it has said\n\nan engine runs already\n"


async def test_log_that_cannot_be_written_is_told_before_anything_starts(runtime: RuntimePaths) -> None:
    runtime.create()
    os.mkfifo(runtime.log)
    with pytest.raises(EngineUnavailable, match=r"its log .*engine\.log \(No such device"):
        launch(runtime, command=python("print()"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is played by /dev/full")
async def test_full_disk_is_told_before_anything_starts(runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RuntimePaths, "log", Path("/dev/full"))
    with pytest.raises(EngineUnavailable, match="No space left on device"):
        launch(runtime, command=["/nowhere/python"])


async def test_log_that_is_a_link_is_not_followed(runtime: RuntimePaths) -> None:
    runtime.create()
    victim = runtime.folder / "victim"
    victim.write_text("keep")
    runtime.log.symlink_to(victim)
    with pytest.raises(EngineUnavailable, match="cannot start the engine"):
        launch(runtime, command=python(""))
    assert victim.read_text() == "keep"


async def test_killed_engine_leaves_no_zombie(
    runtime: RuntimePaths, scripted_command: Callable[..., list[str]]
) -> None:
    client = await connect_or_start(name="test", paths=runtime, command=scripted_command())
    os.kill(client.pid, signal.SIGKILL)
    await client.wait_closed()
    async with asyncio.timeout(SOON):
        while _exists(client.pid):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
