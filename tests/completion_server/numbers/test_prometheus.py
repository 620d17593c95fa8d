"""A real Prometheus scrapes a real port, as deploy/ says, and every query of the Grafana dashboard has an answer.

Runs where `prometheus` is installed (Debian: `apt-get install prometheus`).
"""

import math
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from prometheus_client import generate_latest

from bench.prometheus.board import Query, queries
from bench.prometheus.server import Prometheus, free_port, prometheus
from completion_server.backend import Snapshot
from completion_server.numbers.metrics import Metrics, SnapshotCollector
from completion_server.numbers.recorder import Recorder
from completion_server.numbers.recording import recording
from completion_server.protocol import (
    Cancelled,
    Complete,
    Context,
    DraftCount,
    EventReport,
    KeyReport,
    Report,
    Result,
    Round,
    Usage,
)
from completion_server.settings import EngineSettings

SOON = 90.0
REQUEST = Complete(1, Context("d", 1, "", "", "python"))
USAGE = Usage(
    prompt_tokens=20, cached_tokens=15, computed_tokens=5, completion_tokens=6, drafted_tokens=4, accepted_tokens=3,
    target_passes=3, queue_ms=2, tokenize_ms=0.6, match_ms=0.4, first_tokens_ms=40, ttft_ms=45, e2e_ms=90,
    rounds=(Round(30, 5, "n-gram", 4, 3), Round(20, 1, "", 0, 0), Round(20, 20, "", 0, 0)),
    drafts=tuple(DraftCount("n-gram", place, 1, int(place < 3)) for place in range(4)),
)  # fmt: skip
BUSY = Snapshot(running=1, slots_used=2, slots_total=8, kv_bytes=1, kv_budget_bytes=2, evictions=1, device_bytes=3)


def replay(recorder: Recorder) -> None:
    """Some keys, each as good as the last."""
    recorder.answered("lsp", "embedded", REQUEST, Result(1, "", "end-of-line", USAGE))
    recorder.answered("lsp", "embedded", REQUEST, Cancelled(1, "superseded", replace(USAGE, rounds=())))
    keys = KeyReport("engine", "python", 9, 95.0, 40.0), KeyReport("from-cache", "python", 8, 1.0, 0.0)
    kinds = ("shown", "accepted", "partly-accepted", "typed-through", "dismissed", "replaced", "kept-30s", "kept-2min")
    recorder.reported("embedded", Report("vim", keys, tuple(EventReport(kind, "python", 9) for kind in kinds)))


def test_names_and_help_are_as_prometheus_wants_them() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    metrics = Metrics()
    metrics.registry.register(SnapshotCollector(lambda: BUSY))
    replay(Recorder([metrics.add]))
    text = generate_latest(metrics.registry)
    lint = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True)
    assert (lint.returncode, lint.stderr.decode()) == (0, "")


@dataclass
class Watched:
    """A Prometheus and the recorder of what it watches."""

    server: Prometheus
    recorder: Recorder

    def values(self, expression: str) -> list[float]:
        """Those of `expression` once they are numbers, with keys going on all the while."""
        deadline = time.monotonic() + SOON
        while time.monotonic() < deadline:
            replay(self.recorder)
            found = self.server.now(expression)
            if found and all(map(math.isfinite, found)):
                return found
            time.sleep(0.1)
        raise AssertionError(f"no data for {expression}")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not installed: apt-get install prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    settings = EngineSettings(metrics_port=free_port(), numbers=False)
    with (
        recording(settings, folder / "numbers.sqlite", lambda: BUSY) as recorder,
        prometheus(folder, settings.metrics_port, interval="1s") as server,
    ):
        yield Watched(server, recorder)


@pytest.mark.parametrize("query", queries(), ids=lambda query: f"{query.panel}-{query.legend}")
def test_every_query_of_the_dashboard_has_an_answer(watched: Watched, query: Query) -> None:
    expression = query.filled("15s")
    assert "$" not in expression
    assert all(value >= 0 for value in watched.values(expression))


def test_quantiles_and_shares_are_those_of_the_records(watched: Watched) -> None:
    # Each key took 95 ms: between the limits 80 and 100 of its bucket, 95 % of the way.
    quantile = "histogram_quantile(0.95, sum by (le) (rate(foretype_keystroke_to_suggestion_seconds_bucket[15s])))"
    assert watched.values(quantile) == [pytest.approx(0.099)]
    share = "sum(foretype_spec_decode_num_accepted_tokens_total) / sum(foretype_spec_decode_num_draft_tokens_total)"
    assert watched.values(share) == [pytest.approx(0.75)]
