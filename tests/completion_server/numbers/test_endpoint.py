"""The metrics go on being served while somebody holds connections on which nothing comes."""

import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from prometheus_client import CollectorRegistry, Gauge

from completion_server.numbers import endpoint
from completion_server.numbers.endpoint import AT_A_TIME, serve


@pytest.fixture
def port() -> Iterator[int]:
    """Where a registry with `answer 42` is served."""
    registry = CollectorRegistry()
    Gauge("answer", "To everything.", registry=registry).set(42)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = int(probe.getsockname()[1])
    end = serve(number, registry)
    yield number
    end()


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as reply:
        return str(reply.read().decode())


def half_asked(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(b"GET /met")
    return connection


def test_a_scrape(port: int) -> None:
    assert "answer 42.0" in scrape(port)


def test_half_requests_get_no_more_than_their_places(port: int) -> None:
    with ExitStack() as stack:
        first = [stack.enter_context(half_asked(port)) for _ in range(AT_A_TIME)]
        late = stack.enter_context(half_asked(port))
        assert late.recv(1) == b"", "hung up on at once"
        for connection in first:
            connection.close()
        deadline = 200
        while deadline:
            try:
                assert "answer 42.0" in scrape(port)
                break
            except (urllib.error.URLError, ConnectionError):  # their threads have not seen yet that they are gone
                deadline -= 1
        assert deadline


def test_who_sends_half_a_request_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint._Handler, "timeout", 0.05)
    with half_asked(port) as connection:
        assert connection.recv(1) == b""
