"""The lockstep pace: every key waits for its answer, so that two runs over the same keys can be held side by side.

One run is as usual, one with drafting off, whose suggestions must be the same to the letter. Between them come prompts
that the engine has never seen. Where the engine computes in a coarser arithmetic than fp32, the two runs are made once
more in fp32, which is where equality is judged.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.progress import Progress

from bench.cold import cold_suggestions
from bench.editor import editor_on
from bench.keystrokes import Keystroke, type_sessions
from bench.limits import Limits
from bench.percentiles import summary
from bench.private_engine import PrivateEngine
from bench.replay.serving import engine_for, served
from bench.report import differing_keys, report
from bench.typist import Source, sessions
from lsp.headless import HeadlessEditor

_JUDGE = "float32"
_COARSE = ("int8", "bfloat16", "float16")
_BESIDE = ("keystroke_to_suggestion_ms", "ttft_ms", "goodput")


class Lockstep:
    """`run` gives the report, as JSON values. Raises `ForetypeError`, or ValueError if no file can be typed in."""

    def __init__(
        self, options: argparse.Namespace, sources: Sequence[Source], progress: Progress, command: Sequence[str]
    ) -> None:
        self._options = options
        self._sources = sources
        self._plan = sessions(sources, options.keys, options.seed)
        self._limits = Limits(options.limit_first_ms, options.limit_whole_ms)
        self._progress = progress
        self._command = command

    async def run(self) -> dict[str, Any]:
        async with self._engine("auto") as engine:
            before = (await engine.status()).wasted_tokens
            async with editor_on(engine, drafting=True) as editor:
                keystrokes = await self._type(engine, editor, "typing")
                wasted = (await engine.status()).wasted_tokens - before
                cold = [
                    s async for s in cold_suggestions(editor, self._sources, self._options.cold, self._options.seed)
                ]
            alone = await self._alone(engine)
            status = await engine.status()
        differing = {status.dtype: differing_keys(keystrokes, alone)}
        if status.dtype in _COARSE:
            differing[_JUDGE] = await self._judge()
        return {
            **report(keystrokes, self._limits),
            "pace": "lockstep",
            "cold_ttft_ms": summary([s.trace["ttft_ms"] for s in cold]),
            "cold_prompt_tokens": summary([s.trace["prompt_tokens"] for s in cold], (50,)),
            "wasted_tokens": wasted,
            "identical_to_target_only": differing.get(_JUDGE, differing[status.dtype]) == 0,
            "differing_keys": differing,
            "target_only": {name: value for name, value in report(alone, self._limits).items() if name in _BESIDE},
            "limits": asdict(self._limits),
            **served(status),
            "files": len(self._sources),
            "sessions": len(self._plan),
            "seed": self._options.seed,
        }

    async def _judge(self) -> int:
        """How many suggestions differ in fp32 between drafting and the target alone."""
        async with self._engine(_JUDGE) as engine:
            async with editor_on(engine, drafting=True) as editor:
                keystrokes = await self._type(engine, editor, f"typing in {_JUDGE}")
            return differing_keys(keystrokes, await self._alone(engine, f" in {_JUDGE}"))

    async def _alone(self, engine: PrivateEngine, where: str = "") -> list[Keystroke]:
        async with editor_on(engine, drafting=False) as editor:
            return await self._type(engine, editor, f"typing, target alone{where}")

    def _engine(self, dtype: str) -> PrivateEngine:
        return engine_for(self._options.pair, self._progress, self._command, dtype=dtype)

    async def _type(self, engine: PrivateEngine, editor: HeadlessEditor, title: str) -> list[Keystroke]:
        task = self._progress.add_task(title, total=sum(len(session.keys) for session in self._plan))
        keystrokes = []
        async for keystroke in type_sessions(editor, self._plan, engine.settled):
            keystrokes.append(keystroke)
            self._progress.advance(task)
        return keystrokes
