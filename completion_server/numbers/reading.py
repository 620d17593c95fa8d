"""The store opened to read only, beside an engine that writes to it."""

import sqlite3
from pathlib import Path

from completion_server.errors import SettingsError
from completion_server.numbers.schema import check_version, create


def reading(path: Path) -> sqlite3.Connection:
    """A connection whose rows know their columns' names; empty tables where there is no file, which is not made.

    Raises `SettingsError` if the file cannot be read or is of a newer version.
    """
    try:
        if path.exists():
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5.0)
            check_version(connection)
        else:
            connection = sqlite3.connect(":memory:")
            create(connection)
        connection.execute("SELECT time FROM requests LIMIT 1").fetchall()
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(f"cannot read the numbers in {path} ({error})") from None
    connection.row_factory = sqlite3.Row
    return connection
