"""Stores of older versions get what they lack, and a trace takes the place of what was known of it before."""

import sqlite3
from contextlib import closing
from pathlib import Path

from completion_server.numbers.overview import overview
from completion_server.numbers.records import KeyRecord, TraceRecord
from completion_server.numbers.schema import VERSION
from completion_server.numbers.store import Store
from completion_server.numbers.summary import figures

KEYS_OF_VERSION_1 = (
    "time REAL NOT NULL, editor TEXT NOT NULL, pair TEXT NOT NULL, language TEXT NOT NULL, outcome TEXT NOT NULL, "
    "characters INTEGER NOT NULL, suggestion_ms REAL NOT NULL, first_tokens_ms REAL NOT NULL"
)
NOW = 2e9


def old_store(path: Path) -> None:
    """As version 1 left it, with one key."""
    Store(path, keep_days=1e6).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE keys")
        connection.execute(f"CREATE TABLE keys ({KEYS_OF_VERSION_1}) STRICT")
        connection.execute("INSERT INTO keys VALUES (?, 'vim', 'p', 'go', 'engine', 5, 90.0, 30.0)", (NOW,))
        connection.execute("PRAGMA user_version = 1")


def test_an_older_store_gets_its_new_columns_and_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "numbers.sqlite"
    old_store(path)
    key = KeyRecord(NOW + 1, "vim", "p", "go", "engine", 5, 110.0, 30.0, 20.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    store = Store(path, keep_days=1e6)
    store.add(key)
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        old, new = connection.execute("SELECT * FROM keys ORDER BY time").fetchall()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    assert version == VERSION
    assert (old["suggestion_ms"], old["key_ms"], old["painted_ms"]) == (90, 0, 0)
    assert dict(new) == {name: getattr(key, name) for name in KeyRecord.__slots__}


def test_an_older_store_can_be_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "numbers.sqlite"
    old_store(path)
    assert figures(path)["keystrokes"] == 1
    assert overview(path, 1.0, now=NOW + 60)["spent"] == []


def test_the_whole_trace_takes_the_place_of_its_first_part(tmp_path: Path) -> None:
    path = tmp_path / "numbers.sqlite"
    store = Store(path, keep_days=1e6)
    store.add(TraceRecord(NOW, "p", "go", 200.0, '[["queued", 200.0]]'))
    store.add(TraceRecord(NOW + 1, "p", "go", 300.0, '[["queued", 300.0]]'))
    store.add(TraceRecord(NOW, "p", "go", 215.0, '[["key", 15.0], ["queued", 200.0]]', 215.0))
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT total_ms, shown_ms FROM traces ORDER BY time").fetchall()
    assert rows == [(215, 215), (300, 0)]
