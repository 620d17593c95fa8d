"""What `foretype stats` prints and writes, without any engine."""

import csv
import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from completion_server import cli
from completion_server.errors import SettingsError
from completion_server.folders import numbers_file
from completion_server.numbers.export import write
from completion_server.numbers.records import EventRecord, KeyRecord
from completion_server.numbers.store import DAY_S, Store


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.build(), arguments)


@pytest.fixture
def two_keys() -> float:
    """One of today, one of ten days ago; a suggestion of today was accepted."""
    now = time.time()
    store = Store(numbers_file())
    store.add(KeyRecord(now, "Neovim", "embedded", "python", "engine", 5, 100.0, 20.0))
    store.add(KeyRecord(now - 10 * DAY_S, "Neovim", "embedded", "go", "engine", 5, 300.0, 20.0))
    store.add(EventRecord(now, "Neovim", "embedded", "python", "shown", 5))
    store.add(EventRecord(now, "Neovim", "embedded", "python", "accepted", 5))
    store.close()
    return now


def test_with_nothing_kept_all_is_zero_and_nothing_is_made() -> None:
    result = run("stats", "--json")
    assert result.exit_code == 0
    assert json.loads(result.output)["keystrokes"] == 0
    assert not numbers_file().exists()


@pytest.mark.parametrize(("since", "keys"), [("7d", 1), ("2w", 2), ("all", 2), ("300h", 2), ("5m", 1)])
def test_since(two_keys: float, since: str, keys: int) -> None:
    assert json.loads(run("stats", "--since", since, "--json").output)["keystrokes"] == keys


@pytest.mark.parametrize("since", ["", "7", "d", "-1d", "7 days", "1e3d"])
def test_a_stretch_of_time_that_is_none_is_named(since: str) -> None:
    result = run("stats", "--since", since)
    assert isinstance(result.exception, SettingsError)
    assert "--since cannot be" in str(result.exception)


def test_by_language(two_keys: float) -> None:
    groups = json.loads(run("stats", "--since", "all", "--by", "language", "--json").output)["groups"]
    assert {name: group["keystrokes"] for name, group in groups.items()} == {"go": 1, "python": 1}


def test_for_a_person(two_keys: float) -> None:
    lines = [" ".join(line.split()) for line in run("stats", "--by", "editor").output.splitlines()]
    assert lines[0] == "editor all Neovim"
    assert "keys 1 1" in lines
    assert "accepted of shown 100.0 % 100.0 %" in lines
    assert "key to suggestion, ms 100 / 100 / 100 100 / 100 / 100" in lines
    assert "first text, ms – –" in lines


def test_rows_as_csv(two_keys: float, tmp_path: Path) -> None:
    result = run("stats", "--since", "all", "--export", "csv", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0
    with (tmp_path / "out" / "keys.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["language"] for row in rows] == ["go", "python"]
    names = {"requests.csv", "keys.csv", "events.csv", "drafts.csv", "traces.csv"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names


def test_parquet_without_its_library_says_what_to_do(
    two_keys: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(SettingsError, match="pip install pyarrow"):
        list(write(numbers_file(), tmp_path, "parquet"))


def test_rows_as_parquet(two_keys: float, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    files = list(write(numbers_file(), tmp_path, "parquet"))
    assert [file.name for file in files] == [
        f"{table}.parquet" for table in ("requests", "keys", "events", "drafts", "traces")
    ]
    assert parquet.read_table(files[1]).column("language").to_pylist() == ["go", "python"]
    assert parquet.read_table(files[0]).num_rows == 0
