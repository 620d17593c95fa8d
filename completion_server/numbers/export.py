"""The rows themselves, for whoever has questions of their own: one file a table, CSV or Parquet."""

import csv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

from completion_server.errors import SettingsError
from completion_server.numbers.reading import reading
from completion_server.numbers.schema import TABLES


def write(store: Path, folder: Path, form: Literal["csv", "parquet"], *, since: float = 0.0) -> Iterator[Path]:
    """Write every table of `store` into `folder`, which is made; gives the files. A file that is there is replaced.

    Raises `SettingsError` where the store cannot be read, or Parquet is asked for without pyarrow.
    """
    with closing(reading(store)) as connection:
        folder.mkdir(parents=True, exist_ok=True)
        for table in TABLES.values():
            cursor = connection.execute(f"SELECT * FROM {table} WHERE time >= ? ORDER BY time", (since,))  # noqa: S608
            names = [column[0] for column in cursor.description]
            rows = [tuple(row) for row in cursor]
            path = folder / f"{table}.{form}"
            unfinished = path.with_suffix(".part")
            (_csv if form == "csv" else _parquet)(unfinished, names, rows)
            unfinished.replace(path)
            yield path


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
