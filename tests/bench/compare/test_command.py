"""The whole comparison on engines by script: turns, failures, interruption, exit codes, and that nothing leaks."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.progress import Progress
from typer.testing import CliRunner, Result

from bench.compare import command, run
from bench.compare.contenders import Contender
from bench.compare.figures import names
from completion_server import cli

SECRET = "zanzibar"  # stands in all that is typed
CODE = "".join(f"def f{n}({SECRET}):\n    first = {SECRET}.name\n    return call(first, {n})\n\n\n" for n in range(40))
PAIRS = "embedded,embedded:n-gram,embedded:target-only"
EMPTY = str(Path(cli.__file__).with_name("py.typed"))
AMOUNT = ("--keys", "60", "--cursors", "8", "--prompts", "2")


@pytest.fixture
def source(tmp_path: Path) -> str:
    folder = tmp_path / "hidden-folder"
    folder.mkdir()
    for number in range(3):
        (folder / f"private_name_{number}.py").write_text(f"# {number}\n{CODE}")
    return str(folder / "*.py")


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has every pair be served by a script; those that are named follow scripts of their own."""

    def serve(**own: dict) -> None:
        scripts = {"": {"rules": [{"match": ".", "text": "name\n"}, {"text": "x = 1\n"}]}, **own}
        for name, script in scripts.items():
            (tmp_path / f"script-{name}.json").write_text(json.dumps(script))

        def command_of(contender: Contender) -> Sequence[str]:
            name = contender.name.rpartition(":")[2].replace("-", "_")
            file = tmp_path / f"script-{name if name in scripts else ''}.json"
            return [sys.executable, "-m", "completion_server.scripted", "--script", str(file), "--exit-with-parent"]

        monkeypatch.setattr(run, "serve_command", command_of)
        monkeypatch.setattr("bench.private_engine.REST", 0.1)  # a script has nothing to prefill
        monkeypatch.setattr(command, "hashes", lambda *_: {})
        monkeypatch.setattr(command, "environment", lambda _: STAMP)  # which reads a library for seconds

    return serve


STAMP = {
    "date": "2026-01-01 00:00 UTC",
    "commit": None,
    "versions": {"python": "3.11"},
    "system": "Linux",
    "processor": "a processor",
    "cores": 2,
    "threads": 1,
    "gpu": None,
    "models": {},
}


def bench(source: str, out: Path, *arguments: str, pairs: str = PAIRS) -> Result:
    return CliRunner().invoke(
        cli.build(), ["bench", "--pairs", pairs, "--files", source, *AMOUNT, "--out", str(out), *arguments]
    )


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_all_pairs_do_the_same_and_nothing_of_the_code_is_told(source: str, engines, tmp_path: Path) -> None:
    engines(target_only={"rules": [{"text": "other\n"}]})
    done = bench(source, tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "out" / "report.json").read_text())
    assert list(found["pairs"]) == PAIRS.split(",")
    for pair in found["pairs"].values():
        assert pair["figures"].keys() == set(names())
        assert (pair["figures"]["keystrokes"], pair["figures"]["cursors"]) == (60, 8)
        assert pair["figures"]["memory_mib"] > 1
        assert (pair["turns"]["replay"], pair["turns"]["engine"]) == (3, 2)
    whole, free, alone = found["pairs"].values()
    assert whole["figures"]["edit_similarity"] == free["figures"]["edit_similarity"]
    assert whole["figures"]["edit_similarity"] != alone["figures"]["edit_similarity"]
    assert (found["files"], found["extensions"]) == (3, [".py"])
    page = (tmp_path / "out" / "report.html").read_text()
    for text in (json.dumps(found), page):
        for private in (SECRET, "hidden-folder", "private_name", str(tmp_path), str(Path.home())):
            assert private not in text
    assert "…/*.py" in found["command"]


def test_a_name_that_is_no_utf8_or_more_than_an_extension_costs_no_report(engines, tmp_path: Path) -> None:
    engines()
    for name in ("a.\udcff", "b.secret plan", "c.<b>", "d.py"):
        (tmp_path / name).write_text(CODE)
    source = f"{tmp_path}/[a-d].*"
    arguments = ["--files", f"{tmp_path}/\udcff*", "--without", "quality", "--without", "replay", "--prompts", "1"]
    done = bench(source, tmp_path / "out", *arguments, pairs="embedded")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out" / "report.json").read_text())["extensions"] == [".py", "other"]
    assert "\\udcff" in (tmp_path / "out" / "report.html").read_text()


def test_the_page_loads_and_runs_nothing(source: str, engines, tmp_path: Path) -> None:
    engines()
    assert bench(source, tmp_path).exit_code == 0
    text = (tmp_path / "report.html").read_text()
    page = Page(text)
    assert {tag for tag, _ in page.tags} & {
        "script",
        "img",
        "link",
        "iframe",
        "object",
        "form",
        "image",
        "use",
    } == set()
    attributes = [name for _, attributes in page.tags for name in attributes]
    assert [name for name in attributes if name.startswith("on") or name in ("href", "src", "style")] == []
    assert "://" not in text
    assert "url(" not in text
    assert "@import" not in text
    policies = [a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'sha256-")


def test_a_pair_that_does_not_load_is_listed_and_the_others_go_on(source: str, engines, tmp_path: Path) -> None:
    engines(n_gram={"load_error": f"no model in {tmp_path}/models/mine:\npull it first"})
    done = bench(source, tmp_path / "out")
    assert done.exit_code == 1
    assert "embedded:n-gram took no part: no model in …/mine: pull it first" in done.stdout
    found = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [bool(pair["failure"]) for pair in found["pairs"].values()] == [False, True, False]
    assert found["best"]["pair"] in ("embedded", "embedded:target-only")
    words = "".join(Page((tmp_path / "out" / "report.html").read_text()).words)
    assert "embedded:n-gram took no part: no model in …/mine: pull it first" in words


def test_a_pair_that_fails_on_the_way_counts_for_nothing(source: str, engines, tmp_path: Path) -> None:
    engines(n_gram={"rules": [{"error": "request"}]})
    assert bench(source, tmp_path).exit_code == 1
    found = json.loads((tmp_path / "report.json").read_text())
    assert "figures" not in found["pairs"]["embedded:n-gram"]


def test_no_pair_that_loads_is_a_report_too(source: str, engines, tmp_path: Path) -> None:
    engines(**{"": {"load_error": "pull it first"}})
    done = bench(source, tmp_path)
    assert (done.exit_code, done.stdout.splitlines()[0]) == (1, "No pair could be measured.")
    assert "No pair could be measured." in (tmp_path / "report.html").read_text()


def test_one_by_one_gives_the_same(source: str, engines, tmp_path: Path) -> None:
    engines()
    assert bench(source, tmp_path, "--one-by-one", "--without", "engine").exit_code == 0
    found = json.loads((tmp_path / "report.json").read_text())
    assert found["parts"] == ["replay", "quality"]
    assert {pair["figures"]["keystrokes"] for pair in found["pairs"].values()} == {60}
    assert {pair["figures"]["tokens_per_s"] for pair in found["pairs"].values()} == {None}
    assert "--without engine --one-by-one" in found["command"]


def test_conditions_decide_the_exit_code(source: str, engines, tmp_path: Path) -> None:
    engines()
    arguments = ("--without", "quality", "--without", "engine")
    assert bench(source, tmp_path, *arguments, "--fail-if", "failed>0", pairs="embedded").exit_code == 0
    done = bench(source, tmp_path, *arguments, "--fail-if", "embedded:keystrokes>59", pairs="embedded")
    assert done.exit_code == 1
    assert "condition failed: embedded:keystrokes>59: embedded has 60" in done.stdout
    words = "".join(Page((tmp_path / "report.html").read_text()).words)
    assert "Condition failed: embedded:keystrokes>59: embedded has 60" in words


@pytest.mark.parametrize("after", [0, 5])
def test_interrupted_it_keeps_what_is_done(after: int, source: str, engines, tmp_path: Path, monkeypatch) -> None:
    engines()
    taken, take = [], run.Seat.take

    async def interrupted(seat, turn) -> None:
        if len(taken) == after:
            raise KeyboardInterrupt
        taken.append(turn)
        await take(seat, turn)

    monkeypatch.setattr(run.Seat, "take", interrupted)
    assert bench(source, tmp_path / "out").exit_code == 130
    if after == 0:
        assert not (tmp_path / "out").exists()
        return
    found = json.loads((tmp_path / "out" / "report.json").read_text())
    assert found["interrupted"] is True
    assert sum(sum(pair["turns"].values()) for pair in found["pairs"].values() if not pair["failure"]) == after
    assert "interrupted" in (tmp_path / "out" / "report.html").read_text()
    assert [file.name for file in (tmp_path / "out").iterdir() if file.suffix not in (".html", ".json")] == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--pairs", "other"), "no pair is called 'other'"),
        (("--fail-if", "speed>1"), "no figure is called 'speed'"),
        (("--without", "all"), "--without cannot be 'all'; allowed: replay, quality, engine"),
        (("--without", "replay", "--without", "quality", "--without", "engine"), "leaves nothing"),
        (("--files", "/nowhere/*.py"), "no text files match"),
        (("--out", f"{__file__}/inside"), "name another folder with --out"),
        (("--files", os.devnull), "no text files match"),
        (("--files", EMPTY, "--without", "replay", "--without", "quality"), "no file has text to go on from"),
    ],
)
def test_what_makes_no_sense_is_said_before_an_engine_starts(arguments, why, source, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(run.Run, "run", None)
    begin = ["bench", "--pairs", "embedded", "--out", str(tmp_path / "out")]
    given = [*begin, *(() if "--files" in arguments else ("--files", source)), *arguments]
    done = CliRunner().invoke(cli.build(), given)
    assert done.exit_code != 0
    assert why in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_without_the_extra_it_says_what_to_install(source: str, tmp_path: Path) -> None:
    """In a process of its own: modules that are imported anew are others than those that tests have at hand."""
    code = "import sys; sys.modules['rapidfuzz'] = None; from completion_server.cli import main; main()"
    arguments = ["bench", "--pairs", "embedded", "--files", source, "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "pip install 'foretype[bench]'" in done.stderr


def test_a_progress_bar_for_every_pair(source: str, engines, tmp_path: Path) -> None:
    engines()
    options = command.Options("embedded,embedded:n-gram", (source,), tmp_path, command.Amount(30, 4, 1))
    with Progress(disable=True) as progress:
        command.compare(options, progress)
        tasks = {task.description: task for task in progress.tasks}
    for name in ("embedded", "embedded:n-gram"):
        assert tasks[name].finished


DRIVER = """
import os
import signal
import subprocess
import sys
from bench.compare import command, run
from completion_server import cli

take = run.Seat.take

async def told(seat, turn):
    await take(seat, turn)
    print("turn", flush=True)

run.Seat.take = told
run.serve_command = lambda contender: {serve!r}
command.hashes = lambda *_: {{}}
command.environment = lambda _: {stamp!r}
cli.main()
"""


@pytest.mark.parametrize(
    ("end", "sign"),
    [
        pytest.param(os.killpg, signal.SIGINT, id="Ctrl-C reaches every process of a terminal"),
        pytest.param(os.kill, signal.SIGTERM, id="a time limit ends this one"),
    ],
)
def test_however_it_is_ended_it_keeps_what_is_done(end, sign, source: str, tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(json.dumps({"rules": [{"text": "x = 1\n"}]}))
    serve = [sys.executable, "-m", "completion_server.scripted", "--script", str(tmp_path / "script.json")]
    driver = DRIVER.format(serve=[*serve, "--exit-with-parent"], stamp=STAMP)
    arguments = ["bench", "--pairs", "embedded,embedded:n-gram", "--files", source, "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        [sys.executable, "-c", driver, *arguments], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        for _ in range(4):
            assert process.stdout.readline() == "turn\n"
        end(process.pid, sign)
        assert process.wait(timeout=30) == 130
    found = json.loads((tmp_path / "out" / "report.json").read_text())
    assert found["interrupted"] is True
    assert [pair["failure"] for pair in found["pairs"].values()] == [None, None]
    assert sum(sum(pair["turns"].values()) for pair in found["pairs"].values()) >= 4
