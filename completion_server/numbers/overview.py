"""All that the dashboard shows of a period, as one object of plain values."""

import json
import time
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from completion_server.numbers.percentiles import ratio, summary
from completion_server.numbers.reading import reading
from completion_server.numbers.summary import FIRST_TOKENS_MS, SUGGESTION_MS, figures

DAY_S = 86_400.0
_STEPS = ((0.1, 300.0), (2.0, 3_600.0), (float("inf"), DAY_S))  # periods up to so many days, cut in so many seconds
_POINTS = 100  # of a distribution
_TELLING = 10  # suggestions, of which a share says something
_SLOW = 12  # requests
_MOST_LIVE = 200  # keys in one answer
_BEFORE = {
    "key": "key_ms",
    "way to the server": "server_way_ms",
    "sent": "sent_ms",
    "way to the engine": "engine_way_ms",
}
_ENGINE = ("queue", "prompt and first pass", "until there is text", "the rest of it")
_AFTER = {"trimmed": "trimmed_ms", "returned": "returned_ms", "painted": "painted_ms"}


def overview(path: Path, days: float, now: float | None = None) -> dict[str, Any]:
    """The last `days` of the store in `path`, until `now` (Unix seconds). Raises `SettingsError` as `reading` does."""
    now = time.time() if now is None else now
    since = now - days * DAY_S
    with reading(path) as connection:
        return {
            "now": now,
            "since": since,
            "limits": {"first_tokens_ms": FIRST_TOKENS_MS, "suggestion_ms": SUGGESTION_MS},
            "total": figures(path, since=since),
            "groups": {by: figures(path, since=since, by=by)["groups"] for by in ("language", "pair", "editor")},
            "acceptance": _acceptance(connection, since, next(step for most, step in _STEPS if days <= most)),
            "latency": {
                "suggestion": _points(connection, "suggestion_ms", "keys", "engine", since),
                "first tokens": _points(connection, "ttft_ms", "requests", "completed", since),
            },
            "spent": _spent(connection, since),
            "slow": _slow(connection, since),
        }


def live(path: Path, after: int) -> dict[str, Any]:
    """Keys behind row `after`, oldest first, and the last row's number; with `after` = 0 only the latest ones."""
    with reading(path) as connection:
        rows = connection.execute(
            "SELECT rowid, time, outcome, suggestion_ms, language FROM keys WHERE rowid > ?"
            " ORDER BY rowid DESC LIMIT ?",
            (after, _MOST_LIVE),
        ).fetchall()
    return {"last": rows[0]["rowid"] if rows else after, "keys": [dict(row) for row in reversed(rows)]}


def _acceptance(connection: Connection, since: float, step: float) -> list[dict[str, Any]]:
    """Shown and accepted suggestions by stretch of time; one with few of them is joined with its neighbour."""
    rows = connection.execute(  # the first stretch begins with the period
        "SELECT max(CAST(time / ? AS INTEGER) * ?, ?) AS start,"
        " sum(kind = 'shown') AS shown, sum(kind = 'accepted') AS accepted"
        " FROM events WHERE time >= ? GROUP BY start ORDER BY start",
        (step, step, since, since),
    )
    stretches: list[dict[str, Any]] = []
    for row in map(dict, rows):
        if stretches and (row["shown"] < _TELLING or stretches[-1]["shown"] < _TELLING):
            last = stretches[-1]
            last["shown"] += row["shown"]
            last["accepted"] += row["accepted"]
        else:
            stretches.append(row)
    return [{**one, "rate": ratio(one["accepted"], one["shown"])} for one in stretches if one["shown"]]


def _points(connection: Connection, column: str, table: str, outcome: str, since: float) -> list[list[float]]:
    """A cumulative distribution: [milliseconds, share of all that were no slower], at most `_POINTS` of them."""
    query = f"SELECT {column} FROM {table} WHERE outcome = ? AND time >= ? ORDER BY {column}"  # noqa: S608
    values = [row[0] for row in connection.execute(query, (outcome, since))]
    step = max(1, len(values) // _POINTS)
    at = sorted({*range(step - 1, len(values), step), len(values) - 1} if values else set())
    return [[round(values[index], 2), round((index + 1) / len(values), 4)] for index in at]


def _spent(connection: Connection, since: float) -> list[dict[str, Any]]:
    """The stages of a key, from the key to the paint, each with its median and p95 where somebody measured it.

    Those of the engine are of all requests that it finished, the others of keys that it wrote a suggestion for.
    """
    stages: dict[str, list[float]] = {name: [] for name in (*_BEFORE, *_ENGINE, *_AFTER)}
    keys = connection.execute("SELECT * FROM keys WHERE outcome = 'engine' AND time >= ?", (since,)).fetchall()
    there = keys[0].keys() if keys else ()  # an older engine's store has none of these columns
    for name, column in (_BEFORE | _AFTER).items():
        stages[name] = [row[column] for row in keys if row[column] > 0] if column in there else []
    for row in connection.execute(
        "SELECT queue_ms, first_tokens_ms, ttft_ms, e2e_ms FROM requests WHERE outcome = 'completed' AND time >= ?",
        (since,),
    ):
        marks = (0.0, row["queue_ms"], row["first_tokens_ms"], row["ttft_ms"], row["e2e_ms"])
        for name, begin, end in zip(_ENGINE, marks, marks[1:], strict=False):
            stages[name].append(max(0.0, end - begin))
    return [{"stage": name, **summary(values, (50, 95))} for name, values in stages.items() if values]


def _slow(connection: Connection, since: float) -> list[dict[str, Any]]:
    rows = connection.execute("SELECT * FROM traces WHERE time >= ? ORDER BY total_ms DESC LIMIT ?", (since, _SLOW))
    return [{**dict(row), "stages": json.loads(row["stages"])} for row in rows]
