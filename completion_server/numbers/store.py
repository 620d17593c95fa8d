"""The store: records go into a SQLite file, from any thread, written by one.

What was added is on disk within `FLUSH_S`, so a killed process loses the last second at most. Old rows go by age, and
by size if they must. Where the disk refuses, numbers are lost and nothing else: the store says so once and goes
quiet; where another process holds the file, only what comes meanwhile is lost. Only the user can read the file. Knows
nothing of what the numbers mean.
"""

import logging
import os
import queue
import sqlite3
import threading
import time
from itertools import chain
from pathlib import Path
from typing import Final

from completion_server.errors import SettingsError
from completion_server.numbers.records import Record
from completion_server.numbers.schema import TABLES, check_version, create, writing

log = logging.getLogger(__name__)

FLUSH_S: Final = 0.25
LOCK_S = 5.0  # for which a lock of another process is waited for
DAY_S: Final = 86_400.0
_TIDY_S: Final = 600.0  # between two looks at age and size
_KEPT_SHARE: Final = 0.8  # of the rows, where the file has grown too large


class Store:
    """Open until `close`. Rows older than `keep_days` go, and the oldest ones where the file passes `max_bytes`."""

    def __init__(self, path: Path, *, keep_days: float = 90.0, max_bytes: int = 64 << 20) -> None:
        """Makes the file and its folder. Raises `SettingsError` if there can be none, or it is of a newer version."""
        self._path = path
        self._keep_s = keep_days * DAY_S
        self._max_bytes = max_bytes
        self._inbox: queue.SimpleQueue[Record | None] = queue.SimpleQueue()
        self._tidied = 0.0
        self._broken = False
        self._missed = False
        _open(path).close()
        self._thread = threading.Thread(target=self._run, name="foretype-store", daemon=True)
        self._thread.start()

    def add(self, record: Record) -> None:
        """Returns at once; never raises. What has no table is not kept."""
        if not self._broken and type(record) in TABLES:
            self._inbox.put(record)

    def close(self) -> None:
        """Write what was added before."""
        self._inbox.put(None)
        self._thread.join()

    # -- the writer's thread -----------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            connection = _open(self._path)
        except SettingsError as error:
            self._give_up(error)
            return
        try:
            more = True
            while more:
                records, more = self._gather()
                if not self._path.exists():  # somebody took all numbers away: those to come are new ones
                    connection.close()
                    connection = _open(self._path)
                self._write(connection, records)
        except SettingsError as error:
            self._give_up(error)
        finally:
            connection.close()

    def _gather(self) -> tuple[list[Record], bool]:
        """What came within `FLUSH_S` of the first record, and whether more may come."""
        records: list[Record] = []
        patience: float | None = None
        deadline = 0.0
        while True:
            try:
                record = self._inbox.get(timeout=patience)
            except queue.Empty:
                return records, True
            if record is None:
                return records, False
            records.append(record)
            if patience is None:
                deadline = time.monotonic() + FLUSH_S
            patience = max(0.0, deadline - time.monotonic())

    def _write(self, connection: sqlite3.Connection, records: list[Record]) -> None:
        try:
            with connection:
                for statement in chain.from_iterable(map(writing, records)):
                    connection.execute(*statement)
            if time.monotonic() - self._tidied > _TIDY_S or not self._tidied:
                self._tidied = time.monotonic()
                self._tidy(connection)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                self._miss()
            else:
                self._give_up(error)

    def _tidy(self, connection: sqlite3.Connection) -> None:
        oldest = time.time() - self._keep_s
        with connection:
            for table in TABLES.values():
                connection.execute(f"DELETE FROM {table} WHERE time < ?", (oldest,))  # noqa: S608
        while _bytes(connection) > self._max_bytes and _drop_oldest(connection):
            pass
        connection.execute("PRAGMA incremental_vacuum").fetchall()

    def _miss(self) -> None:
        """Somebody holds the file, a backup or a person at its tables, and will let go of it."""
        if not self._missed:
            log.warning("numbers are lost while another process holds their store")
        self._missed = True

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            log.warning("numbers are not kept from here on: %s", type(error).__name__)
        self._broken = True


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(path, timeout=LOCK_S)
        check_version(connection)  # before anything is written
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        # A killed process loses nothing that was committed; only a power cut may cost the last commits.
        connection.execute("PRAGMA synchronous = NORMAL")
        with connection:
            create(connection)
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(f"cannot keep numbers in {path} ({error}): mend it, or set numbers = false") from None
    return connection


def _bytes(connection: sqlite3.Connection) -> int:
    """Of pages in use."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _drop_oldest(connection: sqlite3.Connection) -> bool:
    """Drop the oldest rows of the largest table. False if there is none."""
    counts = {
        table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
        for table in TABLES.values()
    }
    largest = max(counts, key=lambda table: counts[table])
    drop = counts[largest] - int(counts[largest] * _KEPT_SHARE)
    if drop <= 0:
        return False
    with connection:
        connection.execute(
            f"DELETE FROM {largest} WHERE rowid IN (SELECT rowid FROM {largest} ORDER BY time LIMIT ?)",  # noqa: S608
            (drop,),
        )
    return True
