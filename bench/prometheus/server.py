"""A Prometheus of our own: on loopback, in a folder of its own, with the configuration in deploy/prometheus."""

import json
import math
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.prometheus.board import DEPLOY
from completion_server.errors import SettingsError

INTERVAL = "5s"  # between two scrapes, in deploy/prometheus
_ENGINE = "127.0.0.1:9464"  # there too
_START_TIMEOUT = 60.0
_END_TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class Prometheus:
    """Listens on `port` of loopback. All methods block."""

    port: int

    def now(self, expression: str) -> list[float]:
        """The values of `expression` at this moment."""
        found = self._get("query", query=expression)["result"]
        return [float(sample["value"][1]) for sample in found]

    def over(self, expression: str, start: float, end: float, step: float) -> list[list[float]]:
        """For each series its values from `start` to `end` (Unix seconds), without those that are no numbers."""
        found = self._get("query_range", query=expression, start=start, end=end, step=step)["result"]
        series = [[float(value) for _, value in one["values"]] for one in found]
        return [[value for value in values if math.isfinite(value)] for values in series]

    def names(self, prefix: str) -> set[str]:
        """Of all series that begin with `prefix`."""
        return {name for name in self._get("label/__name__/values") if name.startswith(prefix)}

    def _get(self, path: str, **parameters: object) -> Any:
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url) as reply:
            return json.load(reply)["data"]


@contextmanager
def prometheus(folder: Path, engine_port: int, interval: str = INTERVAL) -> Iterator[Prometheus]:
    """One that scrapes `engine_port` of loopback. Raises `SettingsError` where none is installed."""
    program = shutil.which("prometheus")
    if program is None:
        raise SettingsError("prometheus is not installed: apt-get install prometheus")
    config = (DEPLOY / "prometheus/prometheus.yml").read_text(encoding="utf-8")
    config = config.replace(_ENGINE, f"127.0.0.1:{engine_port}")
    config = config.replace(f"scrape_interval: {INTERVAL}", f"scrape_interval: {interval}")
    (folder / "prometheus.yml").write_text(config, encoding="utf-8")
    own = Prometheus(free_port())
    command = [
        program,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{own.port}",
        "--log.level=error",
    ]
    with subprocess.Popen(command) as process:
        try:
            _wait_until_up(own, process)
            yield own
        finally:
            process.terminate()
            process.wait(_END_TIMEOUT)


def free_port() -> int:
    """One that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(server: Prometheus, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            server.now("up")
        except OSError:  # which urllib's errors are
            time.sleep(0.1)
        else:
            return
    raise SettingsError("prometheus did not start")
