"""One run over all cursors: ours and raw side by side, and ours again with parts switched off.

What is done stays in `outcomes` when the run is interrupted.
"""

import tempfile
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.progress import Progress

from bench.private_engine import PrivateEngine
from bench.quality.asking import EditedFile, raw_line, said_by_engine
from bench.quality.cursors import Cursor
from bench.quality.figures import Outcome, Suggested, report
from bench.quality.parts import CONFIGURATION, Part, write_pair_without
from bench.quality.scores import score, score_raw
from completion_server.protocol import State, StatusReply
from lsp.headless import HeadlessEditor
from lsp.settings import Settings

_READY_TIMEOUT = 60.0  # seconds for the language server to find an engine that is ready already
_OPTIONS = {"engine": {"start": False}, "min_confidence": 0.0}  # what is hidden is decided by the figures


class Run:
    """`pair` by name; `without` says which parts are switched off in turn. `command` replaces the engine's."""

    def __init__(
        self,
        pair: str,
        cursors: Sequence[Cursor],
        progress: Progress,
        *,
        without: Collection[Part] = (),
        command: Sequence[str] = (),
    ) -> None:
        self.outcomes: list[Outcome] = []
        self._pair = pair
        self._cursors = cursors
        self._progress = progress
        self._without = without
        self._command = command
        self._status: StatusReply | None = None

    async def run(self, *, with_scores: bool = False) -> None:
        """Ask at all cursors; `with_scores` keeps what the engine said. Raises `ForetypeError` where a part fails."""
        ask_engine = with_scores or "trim" in self._without
        async with self._editor() as (engine, editor):
            self._status = await engine.status()
            async for cursor, ours in self._suggestions(editor, "cursors"):
                raw = score_raw(cursor, await raw_line(engine.client, cursor))
                said = await said_by_engine(engine.client, cursor) if ask_engine else None
                outcome = Outcome(cursor, ours, raw, said)
                if said is not None:
                    outcome.without["trim"] = Suggested(said.text, ours.confidence, score(cursor, said.text))
                self.outcomes.append(outcome)
        for part in self._without:
            if part != "trim":
                await self._run_without(part)

    def report(self) -> dict[str, Any]:
        """The figures of what is done, at the threshold that is the default."""
        status = self._status
        return {
            **report(self.outcomes, Settings().min_confidence),
            "files": len({outcome.cursor.path for outcome in self.outcomes}),
            "pair": self._pair,
            **({"target": status.target, "device": status.device, "dtype": status.dtype} if status else {}),
        }

    async def _run_without(self, part: Part) -> None:
        with tempfile.TemporaryDirectory(prefix="foretype-quality-") as name:
            write_pair_without(part, self._pair, Path(name))
            async with self._editor({CONFIGURATION: name}) as (_, editor):
                number = 0
                async for _, suggested in self._suggestions(editor, f"without {part}"):
                    self.outcomes[number].without[part] = suggested
                    number += 1

    @asynccontextmanager
    async def _editor(
        self, environment: Mapping[str, str] | None = None
    ) -> AsyncIterator[tuple[PrivateEngine, HeadlessEditor]]:
        task = self._progress.add_task("engine", total=1.0)

        def show(state: State) -> None:
            self._progress.update(task, description=state.detail or state.phase, completed=state.fraction or 0.0)

        async with (
            PrivateEngine(self._pair, command=self._command, environment=environment, on_state=show) as engine,
            HeadlessEditor(_OPTIONS, environment=engine.environment) as editor,
        ):
            await editor.wait_ready(_READY_TIMEOUT)
            self._progress.remove_task(task)
            yield engine, editor

    async def _suggestions(self, editor: HeadlessEditor, title: str) -> AsyncIterator[tuple[Cursor, Suggested]]:
        """What is suggested at each cursor, in their order."""
        task = self._progress.add_task(title, total=len(self._cursors))
        for cursors in _by_file(self._cursors):
            file = EditedFile(editor, cursors[0])
            for cursor in cursors:
                answered = await file.ask(cursor)
                found = score(cursor, answered.text, answered.replaced)
                yield cursor, Suggested(answered.text, answered.confidence, found)
                self._progress.advance(task)
            file.close()


def _by_file(cursors: Sequence[Cursor]) -> Iterator[list[Cursor]]:
    return (list(some) for _, some in groupby(cursors, key=lambda cursor: cursor.path))
