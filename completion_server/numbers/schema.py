"""The tables of the store, read off the records. A table has its record's name and fields; docs/numbers.md shows them.

`user_version` is the schema's number: a store that a newer Foretype wrote is left alone.
"""

import sqlite3
from dataclasses import fields
from typing import Any, get_type_hints

from completion_server.errors import SettingsError
from completion_server.numbers.records import DraftRecord, EventRecord, KeyRecord, Record, RequestRecord, TraceRecord

VERSION = 1

TABLES: dict[type[Any], str] = {
    RequestRecord: "requests",
    KeyRecord: "keys",
    EventRecord: "events",
    DraftRecord: "drafts",
    TraceRecord: "traces",
}

_SQL_TYPES = {float: "REAL", int: "INTEGER"}


def check_version(connection: sqlite3.Connection) -> None:
    """Raises `SettingsError` for a store of a newer version."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > VERSION:
        raise SettingsError(f"the store of numbers is of version {found}, this Foretype knows {VERSION}: update it")


def create(connection: sqlite3.Connection) -> None:
    """Make the tables that are missing."""
    for record, table in TABLES.items():
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(_columns(record))}) STRICT")
        connection.execute(f"CREATE INDEX IF NOT EXISTS {table}_time ON {table} (time)")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def insert(record: Record) -> tuple[str, tuple[Any, ...]]:
    """Statement and values that write `record`."""
    names = [field.name for field in fields(record)]
    statement = f"INSERT INTO {TABLES[type(record)]} VALUES ({', '.join('?' * len(names))})"  # noqa: S608
    return statement, tuple(getattr(record, name) for name in names)


def _columns(record: type[Any]) -> list[str]:
    hints = get_type_hints(record)
    return [f"{field.name} {_SQL_TYPES.get(hints[field.name], 'TEXT')} NOT NULL" for field in fields(record)]
