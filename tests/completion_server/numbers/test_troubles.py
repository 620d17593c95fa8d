"""What a person and an engine get where the store, the disk or the clock are not as they should be."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from completion_server import cli
from completion_server.errors import SettingsError
from completion_server.folders import numbers_file
from completion_server.numbers.export import write
from completion_server.numbers.overview import live, overview
from completion_server.numbers.reading import reading
from completion_server.numbers.records import KeyRecord
from completion_server.numbers.schema import VERSION
from completion_server.numbers.store import Store
from completion_server.numbers.summary import figures

_NOBODY = 65_534


def stored(path: Path, keys: int = 400) -> Path:
    store = Store(path, keep_days=1e6)
    for second in range(keys):
        store.add(KeyRecord(1e9 + second, "an editor", "a pair", "a language", "engine", 5, 100.0, 20.0))
    store.close()
    return path


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that everybody may read, where nobody but root may write."""
    path = Path(tempfile.mkdtemp(prefix="foretype-"))
    stored(path / "numbers.sqlite")
    (path / "numbers.sqlite").chmod(0o444)
    path.chmod(0o555)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


@contextmanager
def not_root() -> Iterator[None]:
    """Root may write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_numbers_in_a_folder_that_cannot_be_written_to_can_be_read(folder: Path) -> None:
    with not_root():
        assert figures(folder / "numbers.sqlite")["keystrokes"] == 400
        assert live(folder / "numbers.sqlite", 0)["last"] == 400


def test_a_store_that_is_damaged_inside_is_refused_in_one_line(tmp_path: Path) -> None:
    path = stored(tmp_path / "numbers.sqlite")
    data = bytearray(path.read_bytes())
    data[8_192 : len(data)] = b"\xff" * (len(data) - 8_192)
    path.write_bytes(data)
    for ask in (lambda: figures(path), lambda: overview(path, 1e5), lambda: list(write(path, tmp_path / "out", "csv"))):
        with pytest.raises(SettingsError, match="cannot read the numbers in") as refused:
            ask()
        assert "\n" not in str(refused.value)


def test_a_store_of_a_newer_version_is_not_read(tmp_path: Path) -> None:
    path = stored(tmp_path / "numbers.sqlite", keys=1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(SettingsError, match="update it"):
        figures(path)


def test_a_connection_is_closed_behind_its_reader(tmp_path: Path) -> None:
    with reading(stored(tmp_path / "numbers.sqlite", keys=1)) as connection:
        pass
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")


@pytest.mark.parametrize(("since", "keys"), [("0s", 0), ("0w", 0), ("999999w", 1)])
def test_the_edges_of_since(since: str, keys: int) -> None:
    stored(numbers_file(), keys=1)
    assert f'"keystrokes": {keys},' in CliRunner().invoke(cli.build(), ["stats", "--since", since, "--json"]).output


# -- exporting ---------------------------------------------------------------------------------------------------------


def test_files_of_an_earlier_export_are_replaced_and_others_stay(tmp_path: Path) -> None:
    path = stored(tmp_path / "numbers.sqlite", keys=2)
    out = tmp_path / "out"
    out.mkdir()
    (out / "keys.csv").write_text("old")
    (out / "mine.txt").write_text("mine")
    list(write(path, out, "csv"))
    assert len((out / "keys.csv").read_text().splitlines()) == 3
    assert (out / "mine.txt").read_text() == "mine"


def test_where_nothing_can_be_written_it_is_said(tmp_path: Path, folder: Path) -> None:
    path = folder / "numbers.sqlite"
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"cannot write .*requests\.csv"):
        list(write(path, tmp_path / "file", "csv"))
    with not_root(), pytest.raises(SettingsError, match="name another folder with --out"):
        list(write(path, folder, "csv"))


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = stored(tmp_path / "numbers.sqlite", keys=4_000)
    (tmp_path / "keys.csv").write_text("old")
    with no_file_larger_than(64 << 10), pytest.raises(SettingsError, match=r"cannot write .*keys\.csv"):
        list(write(path, tmp_path, "csv"))
    assert (tmp_path / "keys.csv").read_text() == "old"
    assert not list(tmp_path.glob("*.part"))


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


# -- writing -----------------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_to_is_named(folder: Path) -> None:
    with not_root(), pytest.raises(SettingsError, match="set numbers = false"):
        Store(folder / "numbers.sqlite")


def test_an_engine_on_a_full_disk_goes_on_and_what_was_written_stays(tmp_path: Path) -> None:
    path = stored(tmp_path / "numbers.sqlite", keys=10)
    writer = subprocess.run(
        [sys.executable, "-c", _ON_A_FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert writer.stdout == "alive\n"
    assert writer.stderr.count("numbers are not kept from here on") == 1
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM keys WHERE editor = 'an editor'").fetchone() == (10,)
    assert figures(stored(path, keys=1))["keystrokes"] >= 11  # once there is room again


_ON_A_FULL_DISK = """
import resource, sys
from pathlib import Path
from completion_server.numbers.records import KeyRecord
from completion_server.numbers.store import Store
store = Store(Path(sys.argv[1]), keep_days=1e6)
size = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, size))
for second in range(20_000):
    store.add(KeyRecord(1e9 + second, "the disk is full", "p", "l", "engine"))
store.close()
print("alive")
"""


def test_a_clock_that_goes_back_loses_no_key(tmp_path: Path) -> None:
    path = tmp_path / "numbers.sqlite"
    store = Store(path, keep_days=1e6)
    for now in (2_000.0, 2_001.0, 1_000.0, 1_001.0):
        store.add(KeyRecord(now, "e", "p", "l", "engine", 5, 100.0, 20.0))
    store.close()
    assert figures(path)["keystrokes"] == 4
    assert [key["time"] for key in live(path, after=1)["keys"]] == [2_001.0, 1_000.0, 1_001.0]
