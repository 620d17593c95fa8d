"""The page is served to anybody on this machine, the numbers only to who has the token and asks from the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from completion_server.dashboard.access import Access
from completion_server.dashboard.app import application
from completion_server.numbers.records import EventRecord, KeyRecord, RequestRecord, TraceRecord
from completion_server.numbers.store import Store

HOST = "http://127.0.0.1:4000"
TOKEN = {"Authorization": "Bearer secret"}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.sqlite"
    store = Store(path, keep_days=1e6)
    now = 2e9
    for outcome, ms in (("engine", 100.0), ("engine", 300.0), ("from-cache", 1.0)):
        stages = (20.0, 2.0, 3.0, 1.0, 4.0, 0.5, 6.0) if ms == 100.0 else ()
        store.add(KeyRecord(now, "vim", "p", "python", outcome, 5, ms, 0.0, *stages))
    store.add(
        RequestRecord(now, "lsp", "p", "python", "completed", queue_ms=1, first_tokens_ms=11, ttft_ms=15, e2e_ms=95)
    )
    store.add(EventRecord(now, "vim", "p", "python", "shown", 5))
    store.add(EventRecord(now, "vim", "p", "python", "accepted", 5))
    store.add(TraceRecord(now, "p", "python", 300.0, '[["key", 100.0], ["queued", 200.0]]', 250.0))
    store.close()
    return path


@pytest.fixture
def client(store: Path) -> Iterator[TestClient]:
    with TestClient(application(store, Access(4000, "secret")), base_url=HOST) as client:
        yield client


def test_the_page_and_its_parts_are_there(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    for part in ("style.css", "page.js", "icon.svg"):
        assert f"/static/{part}" in page.text
        assert client.get(f"/static/{part}").status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_no_part_of_the_page_is_fetched_from_elsewhere() -> None:
    from completion_server.dashboard.app import STATIC

    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, file.name


def test_the_numbers_of_a_period(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("completion_server.numbers.overview.time.time", lambda: 2e9 + 60)
    found = client.get("/api/numbers?days=1", headers=TOKEN).json()
    assert found["total"]["keystrokes"] == 3
    assert found["groups"]["editor"]["vim"]["accepted"] == 1
    assert [(point["shown"], point["accepted"]) for point in found["acceptance"]] == [(1, 1)]
    assert found["latency"]["suggestion"] == [[100.0, 0.5], [300.0, 1.0]]
    assert [(stage["stage"], stage["p50"]) for stage in found["spent"]] == [
        ("key", 20), ("way to the server", 2), ("sent", 3), ("way to the engine", 1),
        ("queue", 1), ("prompt and first pass", 10), ("until there is text", 4), ("the rest of it", 80),
        ("trimmed", 4), ("returned", 0.5), ("painted", 6),
    ]  # fmt: skip
    (slow,) = found["slow"]
    assert (slow["stages"], slow["shown_ms"]) == ([["key", 100.0], ["queued", 200.0]], 250)


def test_an_older_period_is_empty(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("completion_server.numbers.overview.time.time", lambda: 3e9)
    found = client.get("/api/numbers?days=1", headers=TOKEN).json()
    assert found["total"]["keystrokes"] == 0
    assert found["acceptance"] == found["spent"] == found["slow"] == found["latency"]["suggestion"] == []


def test_keys_come_once_and_in_order(client: TestClient) -> None:
    first = client.get("/api/live?after=0", headers=TOKEN).json()
    assert [key["suggestion_ms"] for key in first["keys"]] == [100.0, 300.0, 1.0]
    again = client.get(f"/api/live?after={first['last']}", headers=TOKEN).json()
    assert again == {"last": first["last"], "keys": []}


@pytest.mark.parametrize("query", ["days=0", "days=-1", "days=nan", "days=1e9", "days=week"])
def test_a_period_that_makes_no_sense_is_refused(client: TestClient, query: str) -> None:
    assert client.get(f"/api/numbers?{query}", headers=TOKEN).status_code == 400


@pytest.mark.parametrize(
    ("headers", "path"),
    [
        ({}, "/api/numbers"),
        ({"Authorization": "Bearer other"}, "/api/numbers"),
        ({"Authorization": "Bearer sécret".encode()}, "/api/live"),
        ({**TOKEN, "Host": "evil.example:4000"}, "/api/numbers"),
        ({**TOKEN, "Host": "127.0.0.1:4001"}, "/"),
        ({**TOKEN, "Origin": "http://evil.example"}, "/api/numbers"),
        ({**TOKEN, "Origin": "null"}, "/api/numbers"),
        ({**TOKEN, "Origin": "http://localhost:4001"}, "/api/numbers"),
    ],
)
def test_who_has_no_business_here_is_told_so(client: TestClient, headers: dict[str, str], path: str) -> None:
    reply = client.get(path, headers=headers)
    assert reply.status_code == 403
    assert "accepted" not in reply.text


def test_the_page_itself_may_ask(client: TestClient) -> None:
    assert client.get("/api/live", headers={**TOKEN, "Origin": "http://localhost:4000"}).status_code == 200


def test_nothing_can_be_written(client: TestClient) -> None:
    assert client.post("/api/numbers", headers=TOKEN).status_code == 405


def test_a_store_that_cannot_be_read_is_a_message_on_the_page(store: Path, client: TestClient) -> None:
    store.write_bytes(b"no numbers" * 1000)
    reply = client.get("/api/numbers", headers=TOKEN)
    assert reply.status_code == 503
    assert "cannot read the numbers" in reply.json()["error"]
