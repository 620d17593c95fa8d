"""`python -m bench.prometheus`: types as people do and reports which queries of the dashboard for Grafana have data.

The engine is a private one with a port for metrics. With `--store` it keeps its numbers in a folder as well, where
`foretype dashboard` shows what was typed. Needs `prometheus` (Debian: `apt-get install prometheus`).
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console

from bench.arguments import at_least
from bench.editor import editor_on
from bench.private_engine import PrivateEngine
from bench.prometheus.board import queries
from bench.prometheus.server import INTERVAL, Prometheus, free_port, prometheus
from bench.replay.hand import Hand
from bench.replay.live import LiveTypist
from bench.replay.plan import human_plan
from bench.replay.policy import Policy
from bench.sources import read_sources
from completion_server.errors import ForetypeError

_OWN_FILES = str(Path(__file__).parents[2] / "completion_server" / "*.py")
_KEYS = 20_000  # more than anybody types in the time
_STEP = float(INTERVAL.removesuffix("s"))
_RATE_INTERVAL = f"{4 * _STEP:g}s"  # what Grafana takes for it


def main(arguments: Sequence[str] | None = None, *, engine_command: Sequence[str] = ()) -> int:
    """The command line. Exit code 1 if a query has no data or a series is missing, 2 if it could not be run."""
    options = _parser().parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="foretype-prometheus-") as folder:
            result = asyncio.run(_scraped(options, Path(folder), engine_command))
    except (ForetypeError, ValueError) as error:
        Console(stderr=True).print(f"prometheus: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130
    sys.stdout.write(json.dumps(result, indent=None if options.json else 2) + "\n")
    return 1 if result["without_data"] or result["missing"] else 0


async def _scraped(options: argparse.Namespace, folder: Path, command: Sequence[str]) -> dict[str, Any]:
    port = free_port()
    hand = Hand(human_plan(read_sources(options.files or [_OWN_FILES]), _KEYS, options.seed), Policy())
    settings = {"metrics_port": port, "numbers": options.store is not None}
    environment = {"FORETYPE_STATE_DIR": str(options.store or folder)}
    async with (
        PrivateEngine(options.pair, settings=settings, command=command, environment=environment) as engine,
        editor_on(engine) as editor,
    ):
        with prometheus(folder, port) as server:
            began = time.time()
            typist = LiveTypist(editor, hand)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(options.seconds):
                    await typist.type()
            ended = time.time()
            presses = await typist.presses()
            await asyncio.sleep(2 * _STEP)  # the last of it is scraped
            exposed = await asyncio.to_thread(_exposed, port)
            status = await engine.status()
            found = await asyncio.to_thread(_asked, server, began, ended + 2 * _STEP)
            there = await asyncio.to_thread(server.names, "foretype_")
            scrapes = await asyncio.to_thread(server.now, "sum_over_time(up[1h])")
    return {
        "pair": options.pair,
        "seconds": round(ended - began, 1),
        "keys": len(presses),
        "scrapes": int(sum(scrapes)),
        "series_names": len(there),
        "missing": sorted(exposed - there),
        "queries": len(found),
        "with_data": sum(each["points"] > 0 for each in found.values()),
        "without_data": [name for name, each in found.items() if not each["points"]],
        "answers": found,
        "device": status.device,
        "dtype": status.dtype,
        "seed": options.seed,
    }


def _exposed(port: int) -> set[str]:
    """Names of the series that the engine shows."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        text = reply.read().decode()
    return {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}


def _asked(server: Prometheus, began: float, ended: float) -> dict[str, dict[str, int]]:
    """Each query over the whole time, as Grafana asks it: series that have numbers, and how many those are."""
    found = {}
    for query in queries():
        series = server.over(query.filled(_RATE_INTERVAL), began, ended, _STEP)
        points = {"series": sum(map(bool, series)), "points": sum(map(len, series))}
        found[f"{query.panel}: {query.legend}"] = points
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.prometheus",
        description="Type under the eyes of a real Prometheus and ask it what the dashboard of Grafana asks.",
    )
    parser.add_argument("--pair", default="embedded", help="see `foretype pairs` (default: embedded)")
    parser.add_argument("--files", action="append", metavar="GLOB", help="files to type in; may be repeated")
    parser.add_argument("--seconds", type=at_least(1), default=120, metavar="N", help="of typing (default: 120)")
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="keep the engine's numbers there as well")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses places and rhythm (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
