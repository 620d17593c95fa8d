"""What an engine's settings ask for is what is opened, and the port for metrics is nobody's but this machine's."""

import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from completion_server.backend import Snapshot
from completion_server.numbers.recorder import Recorder
from completion_server.numbers.recording import recording
from completion_server.numbers.summary import figures
from completion_server.protocol import KeyReport, Report
from completion_server.settings import EngineSettings

REPORT = Report("vim", (KeyReport("engine", "go", 9, 90.0, 30.0),))


@pytest.fixture
def port() -> int:
    """One that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listening(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The addresses that are bound from here on."""
    found: list[object] = []
    bind = socket.socket.bind

    def noted(self: socket.socket, address: object) -> None:
        found.append(address)
        bind(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "bind", noted)
    return found


def test_nothing_listens_unless_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = listening(monkeypatch)
    with recording(EngineSettings(), tmp_path / "numbers.sqlite", Snapshot):
        assert bound == []


def test_metrics_are_on_loopback_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    bound = listening(monkeypatch)
    with recording(EngineSettings(metrics_port=port), tmp_path / "numbers.sqlite", Snapshot) as recorder:
        recorder.reported("p", REPORT)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
            assert 'foretype_keystrokes_total{language="go",outcome="engine",pair="p"} 1.0' in reply.read().decode()
    assert bound == [("127.0.0.1", port)]
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")


def test_a_port_that_is_taken_costs_the_metrics_alone(
    tmp_path: Path, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        with recording(EngineSettings(metrics_port=port), tmp_path / "numbers.sqlite", Snapshot) as recorder:
            recorder.reported("p", REPORT)
    assert f"no metrics: metrics_port {port} cannot be used (Address already in use)" in caplog.text
    assert figures(tmp_path / "numbers.sqlite")["keystrokes"] == 1


def test_with_numbers_off_no_file_is_made(tmp_path: Path) -> None:
    with recording(EngineSettings(numbers=False), tmp_path / "state" / "numbers.sqlite", Snapshot) as recorder:
        recorder.reported("p", REPORT)
    assert list(tmp_path.iterdir()) == []


def test_with_numbers_off_metrics_are_still_as_asked_for(tmp_path: Path, port: int) -> None:
    settings = EngineSettings(numbers=False, metrics_port=port)
    with recording(settings, tmp_path / "state" / "numbers.sqlite", Snapshot) as recorder:
        recorder.reported("p", REPORT)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
            assert "foretype_keystrokes_total{" in reply.read().decode()
    assert list(tmp_path.iterdir()) == []


def test_an_engine_without_a_store_still_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    with recording(EngineSettings(), tmp_path / "file" / "numbers.sqlite", Snapshot) as recorder:
        assert isinstance(recorder, Recorder)
        recorder.reported("p", REPORT)
    assert "cannot keep numbers" in caplog.text
