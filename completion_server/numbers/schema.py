"""The tables of the store, read off the records. A table has its record's name and fields; docs/numbers.md shows them.

`user_version` is the schema's number: a store that a newer Foretype wrote is left alone.
"""

import sqlite3
from dataclasses import fields
from typing import Any, get_type_hints

from completion_server.errors import SettingsError
from completion_server.numbers.records import DraftRecord, EventRecord, KeyRecord, Record, RequestRecord, TraceRecord

VERSION = 2

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
    """Make the tables that are missing, and the columns that a store of an older version lacks: zero in its rows."""
    for record, table in TABLES.items():
        columns = _columns(record)
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(columns.values())}) STRICT")
        there = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        for name, column in columns.items():
            if name not in there:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} DEFAULT 0")
        connection.execute(f"CREATE INDEX IF NOT EXISTS {table}_time ON {table} (time)")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def writing(record: Record) -> list[tuple[str, tuple[Any, ...]]]:
    """Statements, each with its values, that write `record`; a trace takes the place of what was known of it before."""
    table, names = TABLES[type(record)], [field.name for field in fields(record)]
    statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608
    insert = statement, tuple(getattr(record, name) for name in names)
    if isinstance(record, TraceRecord):
        return [(f"DELETE FROM {table} WHERE time = ?", (record.time,)), insert]  # noqa: S608
    return [insert]


def _columns(record: type[Any]) -> dict[str, str]:
    """Their definitions, by name."""
    hints = get_type_hints(record)
    return {
        field.name: f"{field.name} {_SQL_TYPES.get(hints[field.name], 'TEXT')} NOT NULL" for field in fields(record)
    }
