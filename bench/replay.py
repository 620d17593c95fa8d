"""`python -m bench.replay`: types real files key by key through the language server and reports what a person waits.

A private engine serves two runs over the same keys: one as usual, one with drafting off, whose suggestions must be the
same to the letter. Between them come prompts that the engine has never seen. Where the engine computes in a coarser
arithmetic than fp32, the two runs are made once more in fp32, which is where equality is judged.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from bench.arguments import at_least
from bench.cold import cold_suggestions
from bench.keystrokes import Keystroke, type_sessions
from bench.percentiles import summary
from bench.private_engine import PrivateEngine
from bench.report import differing_keys, report
from bench.sources import read_sources
from bench.typist import Session, Source, sessions
from completion_server.errors import ForetypeError
from completion_server.protocol import State
from lsp.headless import HeadlessEditor

_JUDGE = "float32"
_COARSE = ("int8", "bfloat16", "float16")
READY_TIMEOUT = 60.0  # seconds for the language server to find an engine that is ready already
_OWN_FILES = str(Path(__file__).parents[1] / "completion_server" / "*.py")


def main(arguments: Sequence[str] | None = None, *, engine_command: Sequence[str] = ()) -> int:
    """The command line. Exit code 1 if a key failed or a suggestion differed, 2 if the replay could not be run."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    try:
        sources = read_sources(options.files or [_OWN_FILES])
        plan = sessions(sources, options.keys, options.seed)
        with _progress(console) as progress:
            result = asyncio.run(_Replay(options, sources, plan, progress, engine_command).run())
    except (ForetypeError, ValueError) as error:
        console.print(f"replay: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console().print(_table(result))
    return 0 if result["identical_to_target_only"] and not result["failed"] else 1


class _Replay:
    """One replay; `run` gives its report."""

    def __init__(
        self,
        options: argparse.Namespace,
        sources: Sequence[Source],
        plan: Sequence[Session],
        progress: Progress,
        engine_command: Sequence[str],
    ) -> None:
        self._options = options
        self._sources = sources
        self._plan = plan
        self._progress = progress
        self._command = engine_command

    async def run(self) -> dict[str, Any]:
        async with self._engine("auto") as engine:
            before = (await engine.status()).wasted_tokens
            async with self._editor(engine, drafting=True) as editor:
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
            **report(keystrokes),
            "cold_ttft_ms": summary([s.trace["ttft_ms"] for s in cold]),
            "cold_prompt_tokens": summary([s.trace["prompt_tokens"] for s in cold], (50,)),
            "wasted_tokens": wasted,
            "identical_to_target_only": differing.get(_JUDGE, differing[status.dtype]) == 0,
            "differing_keys": differing,
            "target_only": {name: report(alone)[name] for name in ("keystroke_to_suggestion_ms", "ttft_ms", "goodput")},
            "pair": status.state.pair,
            "target": status.target,
            "draft": status.draft,
            "drafters": list(status.drafters),
            "device": status.device,
            "dtype": status.dtype,
            "files": len(self._sources),
            "sessions": len(self._plan),
            "seed": self._options.seed,
        }

    async def _judge(self) -> int:
        """How many suggestions differ in fp32 between drafting and the target alone."""
        async with self._engine(_JUDGE) as engine:
            async with self._editor(engine, drafting=True) as editor:
                keystrokes = await self._type(engine, editor, f"typing in {_JUDGE}")
            return differing_keys(keystrokes, await self._alone(engine, f" in {_JUDGE}"))

    async def _alone(self, engine: PrivateEngine, where: str = "") -> list[Keystroke]:
        async with self._editor(engine, drafting=False) as editor:
            return await self._type(engine, editor, f"typing, target alone{where}")

    def _engine(self, dtype: str) -> PrivateEngine:
        task = self._progress.add_task("engine", total=1.0)
        return PrivateEngine(
            self._options.pair, dtype=dtype, command=self._command, on_state=lambda state: self._show(task, state)
        )

    def _editor(self, engine: PrivateEngine, *, drafting: bool) -> HeadlessEditor:
        options = {"drafting": drafting, "engine": {"start": False}}
        return HeadlessEditor(options, environment=engine.environment)

    async def _type(self, engine: PrivateEngine, editor: HeadlessEditor, title: str) -> list[Keystroke]:
        await editor.wait_ready(READY_TIMEOUT)
        task = self._progress.add_task(title, total=sum(len(session.keys) for session in self._plan))
        keystrokes = []
        async for keystroke in type_sessions(editor, self._plan, engine.settled):
            keystrokes.append(keystroke)
            self._progress.advance(task)
        return keystrokes

    def _show(self, task: TaskID, state: State) -> None:
        self._progress.update(task, description=state.detail or state.phase, completed=state.fraction or 0.0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.replay", description="Type real files key by key through the language server."
    )
    parser.add_argument("--pair", default="embedded", help="a pair by name, see `foretype pairs`")
    parser.add_argument(
        "--files", action="append", metavar="GLOB", help="files to type in; may be repeated (default: Foretype's own)"
    )
    parser.add_argument("--keys", type=at_least(1), default=500, metavar="N", help="keys to type (default: 500)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses the places (default: 0)")
    parser.add_argument(
        "--cold", type=at_least(0), default=5, metavar="N", help="prompts without any cache (default: 5)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _progress(console: Console) -> AbstractContextManager[Progress]:
    return Progress(console=console, transient=True, disable=not console.is_terminal)


def _table(result: dict[str, Any]) -> Table:
    table = Table(title=f"{result['keystrokes']} keys with {result['pair']}", show_header=False)
    for name, value in result.items():
        if isinstance(value, dict):
            value = "  ".join(f"{key} {item}" for key, item in value.items())
        table.add_row(name, ", ".join(value) if isinstance(value, list) else str(value))
    return table


if __name__ == "__main__":
    sys.exit(main())
