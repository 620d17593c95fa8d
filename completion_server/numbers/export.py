"""The rows themselves, for whoever has questions of their own: one file a table, CSV or Parquet."""

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from completion_server.errors import SettingsError
from completion_server.numbers.reading import reading
from completion_server.numbers.schema import TABLES


def write(store: Path, folder: Path, form: Literal["csv", "parquet"], *, since: float = 0.0) -> Iterator[Path]:
    """Write every table of `store` into `folder`, which is made; gives the files. A file that is there is replaced.

    Each is whole or as it was before. Raises `SettingsError` where the store cannot be read or the folder not be
    written to, or Parquet is asked for without pyarrow.
    """
    with reading(store) as connection:
        for table in TABLES.values():
            cursor = connection.execute(f"SELECT * FROM {table} WHERE time >= ? ORDER BY time", (since,))  # noqa: S608
            names = [column[0] for column in cursor.description]
            rows = [tuple(row) for row in cursor]
            path = folder / f"{table}.{form}"
            with _in_place_of(path) as unfinished:
                (_csv if form == "csv" else _parquet)(unfinished, names, rows)
            yield path


@contextmanager
def _in_place_of(path: Path) -> Iterator[Path]:
    """A file that takes the place of `path` once it is written, and is gone otherwise."""
    unfinished = path.with_suffix(f".{os.getpid()}.part")  # two exports at once do not write into one file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SettingsError(f"cannot write {path} ({reason}): name another folder with --out") from None
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _csv(path: Path, names: list[str], rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def _parquet(path: Path, names: list[str], rows: list[tuple[object, ...]]) -> None:
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise SettingsError("Parquet needs pyarrow: pip install pyarrow, or export csv") from None
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    parquet.write_table(pyarrow.table(dict(zip(names, map(list, columns), strict=True))), path)
