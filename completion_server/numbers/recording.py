"""Opens what an engine's settings ask for: the store, the metrics, both or neither."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from completion_server.backend import Snapshot
from completion_server.errors import SettingsError
from completion_server.numbers.recorder import Recorder, Sink
from completion_server.settings import EngineSettings

log = logging.getLogger(__name__)


@contextmanager
def recording(settings: EngineSettings, path: Path, snapshot: Callable[[], Snapshot]) -> Iterator[Recorder]:
    """A recorder for as long as the engine runs.

    Where there can be no store, or the port for metrics cannot be had, an engine that suggests is worth more than none
    that counts: a line in the log says so.
    """
    sinks: list[Sink] = []
    with ExitStack() as ending:
        if settings.numbers:
            from completion_server.numbers.store import Store

            try:
                store = Store(path, keep_days=settings.numbers_days)
            except SettingsError as error:
                log.warning("%s", error)
            else:
                ending.callback(store.close)
                sinks.append(store.add)
        if settings.metrics_port:
            try:
                sinks.append(_serve_metrics(settings.metrics_port, snapshot, ending))
            except OSError as error:
                log.warning("no metrics: metrics_port %s cannot be used (%s)", settings.metrics_port, error.strerror)
        yield Recorder(sinks)


def _serve_metrics(port: int, snapshot: Callable[[], Snapshot], ending: ExitStack) -> Sink:
    from completion_server.numbers.endpoint import serve
    from completion_server.numbers.metrics import Metrics, SnapshotCollector

    metrics = Metrics()
    metrics.registry.register(SnapshotCollector(snapshot))
    ending.callback(serve(port, metrics.registry))
    return metrics.add
