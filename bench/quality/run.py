"""One run over all cursors: ours and raw side by side, and ours again with a part switched off.

What is done stays in `outcomes` when the run is interrupted.
"""

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import groupby
from typing import Any

from rich.progress import Progress

from bench.private_engine import PrivateEngine
from bench.quality.asking import EditedFile, context_of, raw_line
from bench.quality.cursors import Cursor
from bench.quality.figures import Outcome, report
from bench.quality.scores import score, score_raw
from completion_server.protocol import State, StatusReply
from lsp.headless import HeadlessEditor
from lsp.settings import Settings

_READY_TIMEOUT = 60.0  # seconds for the language server to find an engine that is ready already


class Run:
    """`pair` by name. `command` replaces the engine's command line."""

    def __init__(self, pair: str, cursors: Sequence[Cursor], *, command: Sequence[str] = ()) -> None:
        self.outcomes: list[Outcome] = []
        self._pair = pair
        self._cursors = cursors
        self._command = command
        self._status: StatusReply | None = None

    async def run(self, progress: Progress) -> None:
        """Ask at all cursors. Raises `ForetypeError` where engine or language server fail."""
        async with AsyncExitStack() as stack:
            engine = await stack.enter_async_context(self._engine(progress))
            self._status = await engine.status()
            options = {"engine": {"start": False}, "min_confidence": 0.0}
            editor = await stack.enter_async_context(HeadlessEditor(options, environment=engine.environment))
            await editor.wait_ready(_READY_TIMEOUT)
            task = progress.add_task("cursors", total=len(self._cursors))
            for cursors in _by_file(self._cursors):
                file = EditedFile(editor, cursors[0])
                for cursor in cursors:
                    answered = await file.ask(cursor)
                    raw = await raw_line(engine.client, context_of(cursor))
                    ours = score(cursor, answered.text)
                    self.outcomes.append(Outcome(cursor, ours, score_raw(cursor, raw), answered.confidence))
                    progress.advance(task)
                file.close()

    def report(self) -> dict[str, Any]:
        """The figures of what is done."""
        status = self._status
        return {
            **report(self.outcomes, Settings().min_confidence),
            "files": len({outcome.cursor.path for outcome in self.outcomes}),
            "pair": self._pair,
            **({"target": status.target, "device": status.device, "dtype": status.dtype} if status else {}),
        }

    def _engine(self, progress: Progress) -> PrivateEngine:
        task = progress.add_task("engine", total=1.0)

        def show(state: State) -> None:
            progress.update(task, description=state.detail or state.phase, completed=state.fraction or 0.0)

        return PrivateEngine(self._pair, command=self._command, on_state=show)


def _by_file(cursors: Sequence[Cursor]) -> Iterator[list[Cursor]]:
    return (list(some) for _, some in groupby(cursors, key=lambda cursor: cursor.path))
