"""The command line: what it prints, its exit codes, and that an error is one line."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner, Result

from completion_server import __version__, cli, cli_serve
from completion_server.backend import Backend, Snapshot
from completion_server.cli_try import FAILED, MOST_BYTES, NOTHING, Place
from completion_server.errors import SettingsError
from completion_server.hub import MAX_CLIENTS, Hub
from completion_server.instance import claim
from completion_server.pairs import ModelRef
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths
from completion_server.scripted import Script, ScriptedBackend

SOON = 20.0
COMMANDS = (
    "serve",
    "lsp",
    "try",
    "status",
    "stats",
    "dashboard",
    "stop",
    "doctor",
    "pull",
    "pairs",
    "demo",
    "bench",
    "version",
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.build(), arguments)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "completion_server", *arguments]


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["foretype", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_every_command_that_others_rely_on_is_there() -> None:
    text = run("--help").output
    for command in COMMANDS:
        assert f"\n  {command} " in text


def test_the_version() -> None:
    assert run("version").output == run("--version").output == f"{__version__}\n"


def test_one_of_our_errors_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(monkeypatch, "pull", "nonsense") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("foretype: 'nonsense' names no model: ")
    assert captured.err.count("\n") == 1


def test_for_debugging_the_error_shows_where_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETYPE_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["foretype", "pull", "nonsense"])
    with pytest.raises(SettingsError):
        cli.main()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is played by /dev/full")
def test_output_that_cannot_be_written_is_one_line_and_exit_code_1() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command("pairs"), stdout=full, stderr=subprocess.PIPE, timeout=SOON, check=False)
        mute = subprocess.run(command("pairs"), stdout=full, stderr=full, timeout=SOON, check=False)
    assert (done.returncode, done.stderr) == (1, b"foretype: No space left on device\n")
    assert mute.returncode == 1


# -- models ------------------------------------------------------------------------------------------------------


def test_pairs_as_json() -> None:
    pairs = json.loads(run("pairs", "--json").output)["pairs"]
    assert pairs[0] == {
        "name": "embedded",
        "target": "embedded",
        "draft": "embedded-draft",
        "drafters": ["tail", "n-gram", "model"],
        "layout": "auto",
        "loaded": False,
    }
    assert {pair["name"]: pair["draft"] for pair in pairs}["qwen-7b-0.5b"] == "Qwen/Qwen2.5-Coder-0.5B"


def test_a_pair_to_use_has_a_name() -> None:
    assert "a pair has a name" in str(run("pairs", "use", "").exception)


def test_pairs_as_a_table() -> None:
    lines = run("pairs").output.splitlines()
    assert lines[0].split() == ["NAME", "TARGET", "DRAFT", "DRAFTERS", "LAYOUT"]
    assert lines[1].split() == ["embedded", "embedded", "embedded-draft", "tail,", "n-gram,", "model", "auto"]
    assert lines[-1] == f"Your own pairs go into {os.environ['XDG_CONFIG_HOME']}/foretype/pairs.toml"


@pytest.mark.parametrize(
    ("arguments", "pulled"),
    [
        ((), ["embedded", "embedded-draft"]),
        (("embedded",), ["embedded", "embedded-draft"]),
        (("qwen-1.5b-0.5b",), ["Qwen/Qwen2.5-Coder-1.5B", "Qwen/Qwen2.5-Coder-0.5B"]),
        (("org/name@v1",), ["org/name@v1"]),
    ],
)
def test_pull_fetches_a_pair_or_a_model(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], pulled: list[str]
) -> None:
    asked = []

    def fake(ref: ModelRef, progress: object) -> Path:
        asked.append(str(ref))
        return Path("/models")

    monkeypatch.setattr("completion_server.pull.pull", fake)
    result = run("pull", *arguments)
    assert asked == pulled
    assert result.stdout == "".join(f"{name}: /models\n" for name in pulled)


# -- the engine that runs ----------------------------------------------------------------------------------------


def test_without_an_engine_status_says_so() -> None:
    plain, as_json = run("status"), run("status", "--json")
    assert plain.exit_code == as_json.exit_code == 1
    assert plain.output.startswith("no engine is running")
    assert json.loads(as_json.output) == {"engine": False}


def test_stop_without_an_engine_is_no_error() -> None:
    result = run("stop")
    assert (result.exit_code, result.output) == (0, "no engine is running\n")


async def test_status_of_a_running_engine(scripted: Callable[..., Awaitable[ScriptedBackend]]) -> None:
    await scripted()
    status = json.loads((await asyncio.to_thread(run, "status", "--json")).output)
    assert status["engine"] is True
    assert status["pid"] == os.getpid()
    assert status["state"]["phase"] == "ready"
    plain = await asyncio.to_thread(run, "status")
    assert plain.exit_code == 0
    facts = dict(line.rsplit(maxsplit=1) for line in plain.output.splitlines())
    assert (facts["phase"], facts["pair"], facts["pid"]) == ("ready", "scripted", str(os.getpid()))


@pytest.mark.parametrize("what", ["status", "stop"])
async def test_an_engine_with_too_many_clients_is_not_called_none(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scripted: Callable[..., Awaitable[ScriptedBackend]],
    raw_client: Callable[[], Awaitable[Any]],
    what: str,
) -> None:
    await scripted()
    for _ in range(MAX_CLIENTS):
        await (await raw_client()).greet()
    assert await asyncio.to_thread(run_main, monkeypatch, what) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"foretype: 64 clients are connected to the engine: close an editor, or end process {os.getpid()}\n"
    )


@pytest.mark.parametrize("what", ["status", "stop"])
def test_an_engine_that_does_not_answer_is_not_called_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], runtime: RuntimePaths, what: str
) -> None:
    with claim(runtime, "p"):
        assert run_main(monkeypatch, what) == 2
    assert capsys.readouterr().err.startswith(f"foretype: the engine (process {os.getpid()}) ")


@pytest.mark.parametrize("what", ["status", "stop"])
def test_a_runtime_folder_below_a_file_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, what: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(RUNTIME_DIR_VARIABLE, str(tmp_path / "file" / "x"))
    assert run_main(monkeypatch, what) == 2
    assert "cannot use the runtime folder" in capsys.readouterr().err


async def test_each_warning_of_the_engine_has_its_line(serve_here: Callable[[Backend], Awaitable[Hub]]) -> None:
    class Warns(ScriptedBackend):
        def snapshot(self) -> Snapshot:
            return replace(super().snapshot(), notes=("no such tokens, alas", "another"))

    await serve_here(Warns(Script()))
    lines = (await asyncio.to_thread(run, "status")).output.splitlines()
    assert [line.split(maxsplit=1) for line in lines if line.startswith("notes")] == [
        ["notes", "no such tokens, alas"],
        ["notes", "another"],
    ]


@pytest.fixture
def _a_pair_called_scripted() -> None:
    path = Path(os.environ["XDG_CONFIG_HOME"], "foretype", "pairs.toml")
    path.parent.mkdir(parents=True)
    path.write_text("[[pair]]\nname = 'scripted'\ntarget = 'embedded'\n")


@pytest.mark.usefixtures("_a_pair_called_scripted")
async def test_pairs_shows_which_pair_is_loaded(scripted: Callable[..., Awaitable[ScriptedBackend]]) -> None:
    await scripted()
    result = await asyncio.to_thread(run, "pairs", "--json")
    assert [pair["name"] for pair in json.loads(result.output)["pairs"] if pair["loaded"]] == ["scripted"]


async def test_another_pair_for_the_engine_that_runs(serve_here: Callable[[Backend], Awaitable[Hub]]) -> None:
    backend = ScriptedBackend(Script(pairs=("other",)))
    await serve_here(backend)
    result = await asyncio.to_thread(run, "pairs", "use", "other")
    assert (result.exit_code, result.output) == (0, "other is in use; no request could be answered for 0 ms\n")
    assert backend.state.pair == "other"


async def test_a_pair_that_the_engine_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scripted: Callable[..., Awaitable[ScriptedBackend]],
) -> None:
    backend = await scripted()
    assert await asyncio.to_thread(run_main, monkeypatch, "pairs", "use", "nonsense") == 2
    assert capsys.readouterr().err == "foretype: no pair is called 'nonsense'; there are: scripted\n"
    assert backend.state.pair == "scripted"


def test_without_an_engine_no_pair_can_be_used() -> None:
    result = run("pairs", "use", "embedded")
    assert result.exit_code == 1
    assert result.output.startswith("no engine is running")
    assert f'pair = "embedded" below [engine] in {os.environ["XDG_CONFIG_HOME"]}/foretype/config.toml' in result.output


def test_pairs_are_listed_even_if_the_engine_cannot_be_asked(runtime: RuntimePaths) -> None:
    runtime.folder.mkdir()
    runtime.folder.chmod(0o755)
    assert run("status").exit_code == 1
    result = run("pairs", "--json")
    assert result.exit_code == 0
    assert not any(pair["loaded"] for pair in json.loads(result.output)["pairs"])


# -- serve, lsp, demo --------------------------------------------------------------------------------------------


def test_serve_passes_on_what_was_given_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, object] = {}
    monkeypatch.setattr(cli_serve, "run", told.update)
    assert run("serve", "--pair", "embedded", "--no-drafting", "--slots", "3", "--unload-after-s", "0").exit_code == 0
    assert {key: value for key, value in told.items() if value is not None} == {
        "pair": "embedded",
        "drafting": False,
        "slots": 3,
        "unload_after_s": 0.0,
    }


def test_every_setting_can_be_given_to_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    from completion_server.settings import EngineSettings

    told: dict[str, object] = {}
    monkeypatch.setattr(cli_serve, "run", told.update)
    run("serve")
    assert set(told) == set(EngineSettings.__dataclass_fields__)


def test_serve_refuses_a_wrong_setting(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main(monkeypatch, "serve", "--device", "tpu") == 2
    assert capsys.readouterr().err == (
        "foretype: the command line: device cannot be 'tpu'; allowed: auto, cpu, cuda, cuda:N\n"
    )


@pytest.mark.parametrize(
    ("session", "hangup", "watched"), [(1, "default", True), (0, "default", False), (1, "ignored", False)]
)
def test_an_engine_in_the_foreground_ends_with_its_parent(
    monkeypatch: pytest.MonkeyPatch, session: int, hangup: str, watched: bool
) -> None:
    monkeypatch.setattr(os, "getsid", lambda _: os.getpid() + session)
    handler = signal.SIG_IGN if hangup == "ignored" else signal.SIG_DFL
    monkeypatch.setattr(signal, "getsignal", lambda _: handler)
    assert cli_serve.foreground_parent() == (os.getppid() if watched else None)


def test_lsp_passes_its_arguments_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def fake(arguments: list[str]) -> int:
        given.extend(arguments)
        return 7

    monkeypatch.setattr("lsp.server.main", fake)
    assert run("lsp", "--stdio", "--log-file", "x", "--help").exit_code == 7
    assert given == ["--stdio", "--log-file", "x", "--help"]


# -- try ---------------------------------------------------------------------------------------------------------


def test_a_place_is_a_file_a_line_and_a_column() -> None:
    assert Place.parse("a/b.py:12:0") == Place(Path("a/b.py"), 12, 0)
    assert Place.parse("C:\\b.py:12:3") == Place(Path("C:\\b.py"), 12, 3)


@pytest.mark.parametrize(
    "text", ["", "b.py", "b.py:1", ":1:2", "b.py:x:2", "b.py:1:-2", "b.py:1:²", f"b.py:{10**5_00}:0"]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="is no place in a file"):
        Place.parse(text)


@pytest.mark.parametrize(
    ("content", "place", "says"),
    [
        (None, "1:0", "cannot be read: No such file"),
        (b"x" * (MOST_BYTES + 1), "1:0", "is too large: at most 4 MiB"),
        (b"\xff", "1:0", "is not UTF-8 text"),
        (b"a\nb", "0:0", "has 2 lines, there is no line 0"),
        (b"a\nb", "3:0", "has 2 lines, there is no line 3"),
        (b"a\nb", "2:2", "line 2 of .* has 1 characters, there is no column 2"),
        (b"ab\r\nb", "1:3", "has 2 characters"),
        ("é😀".encode(), "1:3", "has 2 characters"),
    ],
)
def test_a_place_that_is_not_there_is_named(tmp_path: Path, content: bytes | None, place: str, says: str) -> None:
    path = tmp_path / "x.py"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=says):
        Place.parse(f"{path}:{place}").read()


@pytest.mark.parametrize("place", ["1:0", "1:2", "2:0"])
def test_every_place_of_a_file_is_one(tmp_path: Path, place: str) -> None:
    path = tmp_path / "x.py"
    path.write_bytes("é😀\r\n".encode())
    assert str(Place.parse(f"{path}:{place}").read()) == "é😀\r\n"


NUMBERS = {
    "ttft_ms": 12.5,
    "e2e_ms": 40.0,
    "queue_ms": 0.1,
    "prompt_tokens": 30,
    "cached_tokens": 0,
    "computed_tokens": 30,
    "drafted_tokens": 6,
    "accepted_tokens": 4,
    "target_passes": 3,
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Place, str, str | None]]:
    """Replaces language server and engine by one answer; what they were asked."""
    calls: list[tuple[Place, str, str | None]] = []

    async def fake(where: Place, text: str, pair: str | None) -> tuple[str, dict[str, object]]:
        calls.append((where, text, pair))
        return "a + b", {**NUMBERS, "uri": "file:///x.py", "outcome": "engine"}

    monkeypatch.setattr("completion_server.cli_try.ask", fake)
    return calls


def test_try_as_json(tmp_path: Path, asked: list[tuple[Place, str, str | None]]) -> None:
    path = tmp_path / "x.py"
    path.write_text("def f(a, b):\n    return \n")
    result = run("try", f"{path}:2:11", "--json", "--pair", "embedded")
    assert json.loads(result.output) == {"text": "a + b", "outcome": "engine", "pair": None, **NUMBERS}
    assert asked == [(Place(path, 2, 11), path.read_text(), "embedded")]


def test_try_shows_the_code_before_the_cursor_and_the_numbers(
    tmp_path: Path, asked: list[tuple[Place, str, str | None]]
) -> None:
    path = tmp_path / "x.py"
    path.write_text("def f(a, b):\n    return # todo\n")
    shown = run("try", f"{path}:2:11").output
    assert shown.startswith("def f(a, b):\n    return a + b# todo\n")
    assert "ttft_ms 12.5  e2e_ms 40.0  queue_ms 0.1  prompt_tokens 30" in shown


@pytest.mark.parametrize("outcome", [*FAILED, None])
def test_a_suggestion_that_could_not_be_had_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, outcome: str | None
) -> None:
    answer_with(monkeypatch, "", {} if outcome is None else {"outcome": outcome})
    (tmp_path / "x.py").touch()
    assert run_main(monkeypatch, "try", f"{tmp_path / 'x.py'}:1:0") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"foretype: {FAILED.get(outcome or '', 'the language server did not answer: ask again')}\n"
    assert run_main(monkeypatch, "try", f"{tmp_path / 'x.py'}:1:0", "--json") == 2
    assert json.loads(capsys.readouterr().out)["outcome"] == outcome


@pytest.mark.parametrize("outcome", ["empty", "excluded", "unwanted"])
def test_that_there_is_no_suggestion_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, outcome: str) -> None:
    answer_with(monkeypatch, "", {"outcome": outcome})
    (tmp_path / "x.py").touch()
    result = run("try", f"{tmp_path / 'x.py'}:1:0")
    assert result.exit_code == 0
    assert f"no suggestion here: {NOTHING[outcome]}" in result.output


def answer_with(monkeypatch: pytest.MonkeyPatch, text: str, trace: dict[str, object]) -> None:
    async def fake(*_arguments: object) -> tuple[str, dict[str, object]]:
        return text, trace

    monkeypatch.setattr("completion_server.cli_try.ask", fake)


@pytest.mark.parametrize(("pair", "told"), [("qwen-7b-0.5b", True), ("scripted", False), (None, False)])
async def test_try_says_that_the_engine_has_another_pair(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    scripted: Callable[..., Awaitable[ScriptedBackend]],
    pair: str | None,
    told: bool,
) -> None:
    await scripted()
    answer_with(monkeypatch, "x", {"outcome": "engine"})
    (tmp_path / "x.py").touch()
    options = () if pair is None else ("--pair", pair)
    result = await asyncio.to_thread(run, "try", f"{tmp_path / 'x.py'}:1:0", "--json", *options)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["pair"] == "scripted"
    warning = "foretype: the engine that runs has scripted, not qwen-7b-0.5b: `foretype pairs use qwen-7b-0.5b` first\n"
    assert result.stderr == (warning if told else "")


async def test_try_with_a_pair_that_there_is_not_says_so_though_an_engine_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Callable[..., Awaitable[ScriptedBackend]]
) -> None:
    await scripted()
    answer_with(monkeypatch, "x", {"outcome": "engine"})
    (tmp_path / "x.py").touch()
    result = await asyncio.to_thread(run, "try", f"{tmp_path / 'x.py'}:1:0", "--pair", "nonsense")
    assert result.exit_code != 0
    assert "nonsense" in str(result.exception)


def test_every_outcome_of_the_language_server_is_one_that_try_knows() -> None:
    from lsp.answer import Outcome

    answers = {"engine", "from-cache", "empty", "excluded", "unwanted"}
    not_by_hand = {"growing", "grown", "unsure"}  # `try` asks by hand, and for a whole answer
    assert FAILED.keys() | answers | not_by_hand == set(get_args(Outcome))


def test_only_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(SettingsError, match=f"{path} is no file"):
            Place.parse(f"{path}:1:0").read()
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        Place.parse(f"{tmp_path}:1:0").read()
