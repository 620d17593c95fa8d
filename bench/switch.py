"""`python -m bench.switch`: types on while the engine changes its pair, and reports what a person notices of it.

Keys come at a fixed rate whether or not the last one was answered. A key has waited until there is an answer to it or
to a later one: typing supersedes. Only rests of lines are asked for, so that an answer can be there before the next
key: else the waits would be those of fast typing, not of the switch. The engine is a private one.
"""

import argparse
import asyncio
import contextlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.arguments import at_least
from bench.editor import editor_on
from bench.percentiles import summary
from bench.private_engine import PrivateEngine
from bench.replay.hand import Hand
from bench.replay.live import LiveTypist
from bench.replay.plan import steady
from bench.replay.presses import Press, waits
from bench.sources import read_sources
from bench.typist import sessions
from completion_server.client import known_pairs
from completion_server.errors import ForetypeError, SettingsError
from completion_server.folders import config_folder
from completion_server.pairs import N_GRAM
from completion_server.protocol import PairInUse

_OWN_FILES = str(Path(__file__).parents[1] / "completion_server" / "*.py")
_MOST_KEYS = 20_000
_SHORT = {"max_lines": 1, "max_tokens": 16}
_PHASES = ("before", "during", "after")


def main(arguments: Sequence[str] | None = None, *, engine_command: Sequence[str] = ()) -> int:
    """The command line. Exit code 1 if a key failed, 2 if the pair could not be changed."""
    options = _parser().parse_args(arguments)
    try:
        with _configured(options.pair, options.to) as (name, environment):
            result = asyncio.run(_typed(options, name, environment, engine_command))
    except (ForetypeError, ValueError) as error:
        Console(stderr=True).print(f"switch: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130
    sys.stdout.write(json.dumps(result, indent=None if options.json else 2) + "\n")
    return 1 if result["failed"] else 0


def report(presses: Sequence[Press]) -> dict[str, Any]:
    """Counts, and waits by phase; a key waits for an answer of its own phase or a later one."""
    found: dict[str, list[float]] = {phase: [] for phase in _PHASES}
    for wait in waits(presses):
        found[wait.press.phase].append(wait.whole_ms)
    return {
        "keys": len(presses),
        "failed": sum(press.stroke.failed for press in presses),
        "wait_ms": {phase: summary(values) for phase, values in found.items()},
        "longest_wait_ms": {phase: round(max(values), 1) if values else None for phase, values in found.items()},
    }


async def _typed(
    options: argparse.Namespace, name: str, environment: dict[str, str], command: Sequence[str]
) -> dict[str, Any]:
    plan = sessions(read_sources(options.files or [_OWN_FILES]), _MOST_KEYS, options.seed)
    async with (
        PrivateEngine(options.pair, command=command, environment=environment) as engine,
        editor_on(engine, **_SHORT) as editor,
    ):
        typist = LiveTypist(editor, Hand(steady(plan, options.rate)))
        try:
            await typist.type(options.keys, "before")
            began = time.perf_counter()
            switching = asyncio.create_task(engine.client.use_pair(name))
            while not switching.done():
                await typist.type(1, "during")
            told: PairInUse = await switching
            took = time.perf_counter() - began
            await typist.type(options.keys, "after")
        finally:
            presses = await typist.presses()
        status = await engine.status()
    return {
        "from": options.pair,
        "to": told.pair,
        "in_use": status.state.pair,
        "keys_per_s": options.rate,
        "switch_s": round(took, 2),
        "engine_pause_ms": round(told.pause_ms, 1),
        **report(presses),
        "device": status.device,
        "dtype": status.dtype,
    }


@contextlib.contextmanager
def _configured(pair: str, to: str | None) -> Iterator[tuple[str, dict[str, str]]]:
    """The name to switch to and the environment that knows it: without `to` the same target with no draft model."""
    if to is not None:
        yield to, {}
        return
    target = next((known.target for known in known_pairs() if known.name == pair), None)
    if target is None:
        raise SettingsError(f"no pair is called {pair!r}: see `foretype pairs`")
    name = f"{pair}-plain"
    with tempfile.TemporaryDirectory(prefix="foretype-bench-") as folder:
        own = Path(folder) / "foretype"
        if config_folder().is_dir():
            shutil.copytree(config_folder(), own)
        own.mkdir(exist_ok=True)
        with (own / "pairs.toml").open("a", encoding="utf-8") as file:
            file.write(f'\n[[pair]]\nname = "{name}"\ntarget = "{target}"\ndraft = "{N_GRAM}"\n')
        yield name, {"XDG_CONFIG_HOME": folder}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.switch", description="Change the pair of an engine while somebody types."
    )
    parser.add_argument("--pair", default="embedded", help="the pair to begin with, see `foretype pairs`")
    parser.add_argument("--to", metavar="PAIR", help="the pair to switch to (default: the same without a draft model)")
    parser.add_argument("--files", action="append", metavar="GLOB", help="files to type in; may be repeated")
    parser.add_argument("--keys", type=at_least(1), default=80, metavar="N", help="keys before and after (default: 80)")
    parser.add_argument("--rate", type=float, default=8.0, metavar="N", help="keys a second (default: 8)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses the places (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
