"""The store opened to read only, beside an engine that writes to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from completion_server.errors import SettingsError
from completion_server.numbers.schema import check_version, create


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose rows know their columns' names; empty tables where there is no file, which is not made.

    Raises `SettingsError` if the file cannot be read, be it only a part that is asked for later, or is of a newer
    version.
    """
    try:
        with closing(_opened(path)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(f"cannot read the numbers in {path} ({error})") from None


def _opened(path: Path) -> sqlite3.Connection:
    if not path.exists() or (path.is_file() and not path.stat().st_size):  # or an engine that begins has just made it
        connection = sqlite3.connect(":memory:")
        create(connection)
        return connection
    try:
        return _connected(path)
    except sqlite3.OperationalError:
        # Beside the file SQLite keeps notes for readers and writers: in a folder that cannot be written to it cannot.
        # Without a log nobody writes and the file is whole by itself.
        if Path(f"{path}-wal").exists():
            raise
        return _connected(path, "&immutable=1")


def _connected(path: Path, how: str = "") -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{how}", uri=True, timeout=5.0)
    try:
        check_version(connection)
        connection.execute("SELECT time FROM requests LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection
