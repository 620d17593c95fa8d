"""Figures that can be worked out by hand."""

from pathlib import Path

import pytest

from completion_server.errors import SettingsError
from completion_server.numbers.records import DraftRecord, EventRecord, KeyRecord, Record, RequestRecord
from completion_server.numbers.store import Store
from completion_server.numbers.summary import figures


def stored(path: Path, *records: Record) -> Path:
    store = Store(path / "numbers.sqlite", keep_days=1e6)
    for record in records:
        store.add(record)
    store.close()
    return path / "numbers.sqlite"


def key(
    outcome: str, time: float = 1e9, *, editor: str = "vim", language: str = "python", **values: float
) -> KeyRecord:
    return KeyRecord(time, editor, "p", language, outcome, **values)  # type: ignore[arg-type]


def event(kind: str, characters: int = 0, time: float = 1e9, *, editor: str = "vim") -> EventRecord:
    return EventRecord(time, editor, "p", "python", kind, characters)  # type: ignore[arg-type]


def request(outcome: str, **values: float) -> RequestRecord:
    return RequestRecord(1e9, "lsp", "p", "python", outcome, **values)  # type: ignore[arg-type]


def test_without_a_store_all_is_zero(tmp_path: Path) -> None:
    found = figures(tmp_path / "numbers.sqlite")
    assert found["keystrokes"] == found["shown"] == found["drafted_tokens"] == 0
    assert found["goodput"] is None
    assert not (tmp_path / "numbers.sqlite").exists()


def test_a_store_that_was_only_just_made_is_none_yet(tmp_path: Path) -> None:
    (tmp_path / "numbers.sqlite").touch()
    assert figures(tmp_path / "numbers.sqlite")["keystrokes"] == 0


def test_keys_are_counted_by_outcome_and_timed_where_the_engine_answered(tmp_path: Path) -> None:
    path = stored(
        tmp_path,
        *(key("engine", suggestion_ms=ms, first_tokens_ms=20) for ms in (100, 200, 300)),
        key("from-cache", suggestion_ms=1),
        key("engine", suggestion_ms=120, first_tokens_ms=90),
        key("unsure", suggestion_ms=5_000),
    )
    found = figures(path)
    assert found["keystrokes"] == 6
    assert found["outcomes"] == {"engine": 4, "from-cache": 1, "unsure": 1}
    assert found["keystroke_to_suggestion_ms"] == {"p50": 120, "p95": 300, "p99": 300}
    assert found["goodput"] == 0.4  # 100 ms and the cache, of five


def test_suggestions_are_counted_once_and_by_characters(tmp_path: Path) -> None:
    path = stored(
        tmp_path,
        *(event("shown", 10) for _ in range(4)),
        event("accepted", 10),
        event("partly-accepted", 6),
        event("typed-through", 10),
        event("dismissed"),
        event("looked-30s", 16),
        event("kept-30s", 12),
        event("looked-2min", 16),
        event("kept-2min", 4),
    )
    found = figures(path)
    assert (found["shown"], found["accepted"], found["partly_accepted"], found["dismissed"]) == (4, 1, 1, 1)
    assert found["suggestion_acceptance_rate"] == 0.25
    assert found["character_acceptance_rate"] == 0.4  # 16 of 40
    assert (found["persistence_30s"], found["persistence_2min"]) == (0.75, 0.25)
    assert found["typed_through_characters"] == 10


def test_what_nobody_looked_for_again_is_no_loss(tmp_path: Path) -> None:
    """The editor was closed a minute after the second one was accepted."""
    looked = (event("looked-30s", 10), event("kept-30s", 9))
    path = stored(tmp_path, event("accepted", 10), *looked, event("accepted", 40))
    found = figures(path)
    assert (found["persistence_30s"], found["persistence_2min"]) == (0.9, None)


def test_tokens_of_requests_that_were_stopped_are_wasted(tmp_path: Path) -> None:
    path = stored(
        tmp_path,
        request("completed", cached_tokens=30, computed_tokens=10, completion_tokens=9, drafted_tokens=8,
                accepted_tokens=6, target_passes=3, ttft_ms=20, e2e_ms=50),
        request("superseded", computed_tokens=5, completion_tokens=2),
        request("failed", computed_tokens=100),
    )  # fmt: skip
    found = figures(path)
    assert found["requests"] == {"completed": 1, "failed": 1, "superseded": 1}
    assert (found["cached_token_ratio"], found["draft_acceptance_rate"], found["acceptance_length"]) == (0.75, 0.75, 3)
    assert found["wasted_tokens"] == 7
    assert found["ttft_ms"]["p95"] == 20


def test_drafters_by_position(tmp_path: Path) -> None:
    path = stored(
        tmp_path,
        DraftRecord(1e9, "p", "python", "n-gram", 0, drafted=4, accepted=3),
        DraftRecord(1e9, "p", "python", "n-gram", 0, drafted=4, accepted=1),
        DraftRecord(1e9, "p", "python", "n-gram", 1, drafted=2, accepted=1),
        DraftRecord(1e9, "p", "python", "model", 0, drafted=1, accepted=0),
    )
    assert figures(path)["drafters"] == {
        "model": [{"position": 1, "drafted": 1, "accepted": 0, "rate": 0.0}],
        "n-gram": [
            {"position": 1, "drafted": 8, "accepted": 4, "rate": 0.5},
            {"position": 2, "drafted": 2, "accepted": 1, "rate": 0.5},
        ],
    }


def test_only_what_is_young_enough_counts(tmp_path: Path) -> None:
    path = stored(tmp_path, key("engine", 1e9), key("engine", 2e9), event("shown", 1, 1e9))
    found = figures(path, since=1.5e9)
    assert (found["keystrokes"], found["shown"]) == (1, 0)


def test_groups_have_the_figures_of_their_rows(tmp_path: Path) -> None:
    path = stored(tmp_path, key("engine"), key("engine", language="go"), key("empty", language="go"))
    found = figures(path, by="language")
    assert found["keystrokes"] == 3
    assert {name: group["keystrokes"] for name, group in found["groups"].items()} == {"go": 2, "python": 1}


def test_the_engine_has_no_editors(tmp_path: Path) -> None:
    path = stored(tmp_path, key("engine"), event("shown", 3, editor="code"), request("completed"))
    groups = figures(path, by="editor")["groups"]
    assert {name: (group["keystrokes"], group["shown"]) for name, group in groups.items()} == {
        "code": (0, 1),
        "vim": (1, 0),
    }
    assert "requests" not in groups["vim"]


def test_days_are_those_of_the_calendar_here(tmp_path: Path) -> None:
    path = stored(tmp_path, key("engine", 1e9), key("engine", 1e9 + 2 * 86_400))
    groups = figures(path, by="day")["groups"]
    assert len(groups) == 2
    assert all(len(day) == len("2001-09-09") for day in groups)


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "numbers.sqlite").write_bytes(b"no numbers" * 500)
    with pytest.raises(SettingsError, match="cannot read the numbers"):
        figures(tmp_path / "numbers.sqlite")
