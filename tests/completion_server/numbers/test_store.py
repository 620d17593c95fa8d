"""Records go in and are there again: after a close, after a kill, and only as many as there is room for."""

import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from completion_server.errors import SettingsError
from completion_server.numbers.records import (
    DraftRecord,
    EventRecord,
    KeyRecord,
    PassRecord,
    RequestRecord,
    TraceRecord,
)
from completion_server.numbers.schema import TABLES, VERSION
from completion_server.numbers.store import DAY_S, Store

RECORDS = (
    RequestRecord(1e9, "lsp", "embedded", "python", "completed", prompt_tokens=3, e2e_ms=1.5),
    KeyRecord(1e9, "Neovim", "embedded", "python", "engine", characters=4),
    EventRecord(1e9, "Neovim", "embedded", "python", "shown", characters=4),
    DraftRecord(1e9, "embedded", "python", "n-gram", position=0, drafted=2, accepted=1),
    TraceRecord(1e9, "embedded", "python", 200.0, '[["queued", 200.0]]'),
)
FOREVER = 1e6  # days


def rows(path: Path, table: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608


def test_what_was_added_is_there_after_closing(tmp_path: Path) -> None:
    store = Store(tmp_path / "state" / "numbers.sqlite", keep_days=FOREVER)
    for record in RECORDS:
        store.add(record)
    store.close()
    for record in RECORDS:
        (row,) = rows(tmp_path / "state" / "numbers.sqlite", TABLES[type(record)])
        assert row == tuple(getattr(record, name) for name in type(record).__slots__)


def test_what_has_no_table_is_not_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "numbers.sqlite", keep_days=FOREVER)
    store.add(PassRecord(1e9, "embedded", 4, 20.0, first=True))
    store.add(RECORDS[1])
    store.close()
    assert len(rows(tmp_path / "numbers.sqlite", "keys")) == 1


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    Store(tmp_path / "n" / "numbers.sqlite").close()
    assert stat.S_IMODE((tmp_path / "n").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "n" / "numbers.sqlite").stat().st_mode) == 0o600


def test_old_rows_go(tmp_path: Path) -> None:
    now = time.time()
    store = Store(tmp_path / "numbers.sqlite", keep_days=2)
    store.add(KeyRecord(now - 3 * DAY_S, "e", "p", "l", "engine"))
    store.add(KeyRecord(now - 1 * DAY_S, "e", "p", "l", "empty"))
    store.close()
    assert [row[4] for row in rows(tmp_path / "numbers.sqlite", "keys")] == ["empty"]


def test_where_it_grows_too_large_the_oldest_rows_go(tmp_path: Path) -> None:
    store = Store(tmp_path / "numbers.sqlite", keep_days=FOREVER, max_bytes=200_000)
    for second in range(5_000):
        store.add(KeyRecord(1e9 + second, "an editor", "a pair", "a language", "engine"))
    store.close()
    kept = [row[0] for row in rows(tmp_path / "numbers.sqlite", "keys")]
    assert 500 < len(kept) < 5_000
    assert min(kept) == 1e9 + 5_000 - len(kept)


def test_ten_killed_processes_have_lost_the_last_second_at_most(tmp_path: Path) -> None:
    with ThreadPoolExecutor(10) as pool:
        ends = pool.map(_killed, [tmp_path / f"{number}.sqlite" for number in range(10)], range(25, 35))
        for path, added, killed in ends:
            kept = {row[0] for row in rows(path, "keys")}
            assert killed - added[0] > 1.0  # or nothing would be shown
            assert {when for when in added if killed - when >= 1.0} <= kept
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            store = Store(path, keep_days=FOREVER)
            store.add(RECORDS[1])
            store.close()
            assert len(rows(path, "keys")) == len(kept) + 1


def _killed(path: Path, lines: int) -> tuple[Path, list[float], float]:
    """Kill a writer after so many lines: its store, when each record was added, and when it was killed."""
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        killed = time.time()
        said += writer.stdout.readlines()
    return path, [float(line) for line in said if line.endswith("\n")], killed


_WRITER = """
import sys, time
from pathlib import Path
from completion_server.numbers.records import KeyRecord
from completion_server.numbers.store import Store
store = Store(Path(sys.argv[1]))
while True:
    now = time.time()
    store.add(KeyRecord(now, "e", "p", "l", "engine"))
    print(repr(now), flush=True)
    time.sleep(0.06)
"""


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "numbers.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(SettingsError, match="update it"):
        Store(path)
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="cannot keep numbers"):
        Store(tmp_path / "file" / "numbers.sqlite")


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "numbers.sqlite"
    path.write_bytes(b"these are no numbers" * 100)
    with pytest.raises(SettingsError, match="cannot keep numbers"):
        Store(path)


def test_adding_never_raises_where_the_disk_refuses(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "numbers.sqlite"
    store = Store(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON keys BEGIN SELECT raise(ABORT, 'no room'); END")
    store.add(RECORDS[1])
    store.close()
    store.add(RECORDS[1])
    assert [record.message for record in caplog.records] == ["numbers are not kept from here on: IntegrityError"]


def test_a_lock_of_another_process_costs_what_came_meanwhile_and_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("completion_server.numbers.store.LOCK_S", 0.05)
    path = tmp_path / "numbers.sqlite"
    store = Store(path, keep_days=FOREVER)
    store.add(RECORDS[0])
    while not rows(path, "requests"):
        time.sleep(0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            store.add(RECORDS[0])
            time.sleep(0.6)
        other.execute("ROLLBACK")
    store.add(RECORDS[0])
    store.close()
    assert len(rows(path, "requests")) == 2
    assert [record.message for record in caplog.records] == ["numbers are lost while another process holds their store"]


def test_a_file_that_was_deleted_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "numbers.sqlite"
    store = Store(path, keep_days=FOREVER)
    store.add(RECORDS[0])
    while not rows(path, "requests"):
        time.sleep(0.05)
    for file in tmp_path.iterdir():
        file.unlink()
    store.add(RECORDS[0])
    store.close()
    assert len(rows(path, "requests")) == 1


def test_two_stores_may_write_to_one_file(tmp_path: Path) -> None:
    stores = [Store(tmp_path / "numbers.sqlite", keep_days=FOREVER) for _ in range(2)]
    for second in range(200):
        stores[second % 2].add(KeyRecord(1e9 + second, "e", "p", "l", "engine"))
    for store in stores:
        store.close()
    assert len(rows(tmp_path / "numbers.sqlite", "keys")) == 200
    assert [file.name for file in tmp_path.iterdir()] == ["numbers.sqlite"]
