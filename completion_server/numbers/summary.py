"""From the rows of the store to the figures that a person reads; the words are those of docs/numbers.md.

Opens the store to read only, so that it can be asked while an engine writes. Knows nothing of how figures are shown.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from completion_server.numbers.percentiles import ratio, summary
from completion_server.numbers.reading import reading

Group = Literal["language", "pair", "editor", "day"]

FIRST_TOKENS_MS = 80.0  # goodput: the first tokens are there
SUGGESTION_MS = 150.0  # and all of it

_SUGGESTED = ("engine", "from-cache")  # outcomes of keys that got a suggestion
_STOPPED = ("client", "superseded")  # outcomes of requests whose work was for nothing


def figures(path: Path, *, since: float = 0.0, by: Group | None = None) -> dict[str, Any]:
    """The figures of all rows from `since` (Unix seconds) on; with `by`, those of each group under its name as well.

    Persistence is of what was looked for again: of what else was accepted nobody knows.
    An engine does not know editors: `by="editor"` has what language servers reported. Raises `SettingsError` if there
    is a file that cannot be read; where there is none, all is zero.
    """
    with reading(path) as connection:
        rows = {table: _rows(connection, table, since, by) for table in _TABLES}
    found = _figures(rows)
    if by is not None:
        found["groups"] = {name: _figures(some) for name, some in sorted(_grouped(rows, by).items())}
    return found


_TABLES = ("keys", "events", "requests", "drafts")
_OF_EDITORS = ("keys", "events")

_Rows = Mapping[str, Sequence[sqlite3.Row]]  # by table


def _rows(connection: sqlite3.Connection, table: str, since: float, by: Group | None) -> list[sqlite3.Row]:
    name = {None: "''", "day": "date(time, 'unixepoch', 'localtime')"}.get(by, by)
    if by == "editor" and table not in _OF_EDITORS:
        name = "''"
    return connection.execute(f"SELECT *, {name} AS name FROM {table} WHERE time >= ?", (since,)).fetchall()  # noqa: S608


def _grouped(rows: _Rows, by: Group) -> dict[str, _Rows]:
    """The rows of each group: all groups out of one look at the store, which may have a million rows and 90 days."""
    tables = _OF_EDITORS if by == "editor" else _TABLES
    found: defaultdict[str, dict[str, list[sqlite3.Row]]] = defaultdict(lambda: {table: [] for table in tables})
    for table in tables:
        for row in rows[table]:
            found[row["name"]][table].append(row)
    return dict(found)


def _figures(rows: _Rows) -> dict[str, Any]:
    found = {**_keys(rows["keys"]), **_events(rows["events"])}
    if "requests" in rows:
        found.update(_requests(rows["requests"]))
        found["drafters"] = _drafters(rows["drafts"])
    return found


def _keys(rows: Sequence[sqlite3.Row]) -> dict[str, Any]:
    suggested = [row for row in rows if row["outcome"] in _SUGGESTED]
    in_time = sum(
        row["first_tokens_ms"] <= FIRST_TOKENS_MS and row["suggestion_ms"] <= SUGGESTION_MS for row in suggested
    )
    return {
        "keystrokes": len(rows),
        "outcomes": _counts(rows),
        "keystroke_to_suggestion_ms": summary([row["suggestion_ms"] for row in rows if row["outcome"] == "engine"]),
        "goodput": ratio(in_time, len(suggested)),
    }


def _events(rows: Sequence[sqlite3.Row]) -> dict[str, Any]:
    count = Counter(row["kind"] for row in rows)
    characters: Counter[str] = Counter()
    for row in rows:
        characters[row["kind"]] += row["characters"]
    taken = characters["accepted"] + characters["partly-accepted"]

    return {
        "shown": count["shown"],
        "accepted": count["accepted"],
        "partly_accepted": count["partly-accepted"],
        "typed_through": count["typed-through"],
        "dismissed": count["dismissed"],
        "replaced": count["replaced"],
        "suggestion_acceptance_rate": ratio(count["accepted"], count["shown"]),
        "shown_characters": characters["shown"],
        "accepted_characters": taken,
        "typed_through_characters": characters["typed-through"],
        "character_acceptance_rate": ratio(taken, characters["shown"]),
        "persistence_30s": ratio(characters["kept-30s"], characters["looked-30s"]),
        "persistence_2min": ratio(characters["kept-2min"], characters["looked-2min"]),
    }


def _requests(rows: Sequence[sqlite3.Row]) -> dict[str, Any]:
    done = [row for row in rows if row["outcome"] == "completed"]
    stopped = [row for row in rows if row["outcome"] in _STOPPED]
    cached, computed = _total(done, "cached_tokens"), _total(done, "computed_tokens")
    drafted, accepted = _total(done, "drafted_tokens"), _total(done, "accepted_tokens")
    passes = _total(done, "target_passes")
    return {
        "requests": _counts(rows),
        "queue_ms": summary([row["queue_ms"] for row in done]),
        "ttft_ms": summary([row["ttft_ms"] for row in done]),
        "e2e_ms": summary([row["e2e_ms"] for row in done]),
        "cached_token_ratio": ratio(cached, cached + computed),
        "completion_tokens": _total(done, "completion_tokens"),
        "drafted_tokens": drafted,
        "accepted_tokens": accepted,
        "draft_acceptance_rate": ratio(accepted, drafted),
        "acceptance_length": round(1 + accepted / passes, 4) if passes else None,
        "wasted_tokens": _total(stopped, "computed_tokens") + _total(stopped, "completion_tokens"),
    }


def _drafters(rows: Sequence[sqlite3.Row]) -> dict[str, list[dict[str, Any]]]:
    """By drafter, by position in the draft (from 1)."""
    drafted: Counter[tuple[str, int]] = Counter()
    accepted: Counter[tuple[str, int]] = Counter()
    for row in rows:
        place = row["drafter"], row["position"]
        drafted[place] += row["drafted"]
        accepted[place] += row["accepted"]
    found: dict[str, list[dict[str, Any]]] = {}
    for drafter, position in sorted(drafted):
        tried, right = drafted[drafter, position], accepted[drafter, position]
        entry = {"position": position + 1, "drafted": tried, "accepted": right, "rate": ratio(right, tried)}
        found.setdefault(drafter, []).append(entry)
    return found


def _counts(rows: Sequence[sqlite3.Row]) -> dict[str, int]:
    return dict(sorted(Counter(row["outcome"] for row in rows).items()))


def _total(rows: Sequence[sqlite3.Row], field: str) -> int:
    return sum(row[field] for row in rows)
