"""`python -m bench.tracing`: what tracing and counting cost a warm key, in one engine that traces one editor of two.

Both editors type the same keys into the same engine, each key in the one and then in the other, who is first by turns.
What the one does is traced, counted, stored and made metrics of, and its language server reports it, paints included.
Of the other nothing is kept, its replies tell of no rounds, and its language server reports nothing. Stamps are taken
for both: some hundred nanoseconds each.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.arguments import at_least
from bench.bootstrap import BLOCK, blocks, intervals
from bench.keystrokes import position
from bench.sources import read_sources
from bench.typist import Session, sessions
from completion_server.backend import Reply
from completion_server.choice import choose_pair
from completion_server.engine.pair_loader import PairLoader
from completion_server.engine.thread import EngineThread
from completion_server.engine.turns import Turns
from completion_server.errors import EngineUnavailable
from completion_server.hub import Hub
from completion_server.instance import Running, claim
from completion_server.numbers.metrics import Metrics
from completion_server.numbers.recorder import Recorder
from completion_server.numbers.store import Store
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths
from completion_server.protocol import Complete, EngineMessage, Report, Result, Warm
from completion_server.settings import load
from lsp.headless import Buffer, HeadlessEditor, Suggestion

PER_SESSION = 50  # keys in one place of one file, then two new editors
_OWN_FILES = str(Path(__file__).parents[1] / "completion_server" / "*.py")
_COLD = 3  # keys of each session that are not measured
_READY = 120.0  # seconds

Pair = tuple[float, float]
"""Milliseconds of one key, traced and not."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    options = _parser().parse_args(arguments)
    plan = sessions(read_sources(options.files or [_OWN_FILES]), options.keys, options.seed, PER_SESSION)
    found = asyncio.run(_typed(options.pair, plan))
    sys.stdout.write(json.dumps(report(found, options.seed), indent=None if options.json else 2) + "\n")
    return 0


def report(keys: Sequence[Pair], seed: int) -> dict[str, Any]:
    """Medians, and of what tracing adds (median over keys, each against itself) the 95 % interval."""
    figures = _figures(keys)
    return {"keys": len(keys), **figures, "interval_95": intervals(blocks(keys, BLOCK), _figures, seed)}


def _figures(keys: Sequence[Pair]) -> dict[str, float | None]:
    if not keys:
        return dict.fromkeys(("traced_ms", "bare_ms", "ratio", "difference_ms"))
    found = {
        "traced_ms": statistics.median(traced for traced, _ in keys),
        "bare_ms": statistics.median(bare for _, bare in keys),
        "ratio": statistics.median(traced / bare for traced, bare in keys),
        "difference_ms": statistics.median(traced - bare for traced, bare in keys),
    }
    return {name: round(value, 4) for name, value in found.items()}


# -- an engine that traces every other client ------------------------------------------------------------------------


def traced(connection: int) -> bool:
    """Clients are numbered as they come."""
    return connection % 2 == 1


class HalfRecorder(Recorder):
    """Hears of traced clients alone."""

    def answered(self, client: str, pair: str, request: Complete, reply: EngineMessage, *, connection: int = 0) -> None:
        if traced(connection):
            super().answered(client, pair, request, reply, connection=connection)

    def reported(self, pair: str, report: Report, *, client: str = "", connection: int = 0) -> None:
        if traced(connection):
            super().reported(pair, report, client=client, connection=connection)


class HalfBackend(EngineThread):
    """Tells of rounds and drafts to traced clients alone."""

    def submit(self, client: int, request: Complete | Warm, received: float, reply: Reply) -> None:
        super().submit(client, request, received, reply if traced(client) else lambda said: reply(without_rounds(said)))


def without_rounds(said: EngineMessage) -> EngineMessage:
    return replace(said, usage=replace(said.usage, rounds=(), drafts=())) if isinstance(said, Result) else said


@asynccontextmanager
async def _engine(name: str) -> AsyncIterator[dict[str, str]]:
    """In this process, with a store and metrics of its own. Gives the environment for those who use it."""
    settings = load({"pair": name})
    turns = Turns()
    loader = PairLoader(settings, turns)
    backend = HalfBackend(choose_pair(settings).name, loader.load, turns=turns, max_queue=settings.max_queue)
    with ExitStack() as ending:
        folder = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="foretype-bench-")))
        paths = RuntimePaths(folder / "run")
        listener = ending.enter_context(claim(paths, name))
        if isinstance(listener, Running):
            raise EngineUnavailable("a folder that was just made has an engine")
        store = Store(folder / "numbers.sqlite")
        ending.callback(store.close)
        hub = Hub(backend, HalfRecorder([store.add, Metrics().add]))
        await hub.start(listener)
        try:
            yield {**os.environ, RUNTIME_DIR_VARIABLE: str(paths.folder)}
        finally:
            await hub.stop()


# -- two editors -----------------------------------------------------------------------------------------------------


async def _typed(pair: str, plan: Sequence[Session]) -> list[Pair]:
    found: list[Pair] = []
    async with _engine(pair) as environment:
        for number, session in enumerate(plan):
            async with _editor(environment, events=True) as first, _editor(environment, events=False) as second:
                found += await _type_beside(session, first, second, turn=number)
    return found


@asynccontextmanager
async def _editor(environment: dict[str, str], *, events: bool) -> AsyncIterator[HeadlessEditor]:
    options = {"engine": {"start": False}, "events": events}
    async with HeadlessEditor(options, environment=environment) as editor:
        await editor.wait_ready(_READY)
        yield editor


async def _type_beside(session: Session, first: HeadlessEditor, second: HeadlessEditor, turn: int) -> list[Pair]:
    """`first` is the traced one. Only keys that the engine was asked about in both are measured."""
    buffers = [_open(editor, session) for editor in (first, second)]
    found: list[Pair] = []
    for number, key in enumerate(session.keys):
        said: dict[int, Suggestion] = {}
        for which in (0, 1) if (number + turn) % 2 else (1, 0):
            buffers[which].insert(key)
            said[which] = await buffers[which].suggest()
            if which == 0:
                _paint(first.tell, said[0])
        if number >= _COLD and all(one.trace["asked_engine"] for one in said.values()):
            found.append((said[0].key_ms, said[1].key_ms))
    return found


def _open(editor: HeadlessEditor, session: Session) -> Buffer:
    buffer = editor.open(session.path, session.before + session.after)
    buffer.move(*position(session.before))
    return buffer


def _paint(tell: Callable[[str, dict[str, Any]], None], suggestion: Suggestion) -> None:
    if suggestion.text:
        times = {"keyMs": 1.0, "replyMs": suggestion.key_ms, "paintMs": 1.0}
        tell("foretype/event", {"id": suggestion.trace["id"], "event": "painted", **times})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.tracing", description="What tracing costs a warm key.")
    parser.add_argument("--pair", default="embedded", help="the pair to type with, see `foretype pairs`")
    parser.add_argument("--files", action="append", metavar="GLOB", help="files to type in; may be repeated")
    parser.add_argument("--keys", type=at_least(1), default=1_000, metavar="N", help="keys to type (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses the places (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
