"""`python -m bench.scale`: what a key costs as files, contexts, open documents and editors grow in number.

Real language servers type on private engines. Every key asks the engine, the keys are the same for every size of a
part, and sizes take turns, so that ratios between them hold on a noisy machine. Where the text around the cursor is the
same, so must the suggestions be. Knows nothing of how an engine computes.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.arguments import at_least
from bench.places import middle
from bench.private_engine import PrivateEngine
from bench.scale_parts import Parts, Plan, keys_needed
from bench.scale_report import BARS, by_editors, by_size, cold_beside_warm, differing, met, ratios, reached
from bench.sources import read_sources, standard_library
from completion_server.errors import ForetypeError
from completion_server.protocol import State

PARTS = ("file-lines", "open-documents", "editors", "context-tokens", "cold")
SMALL_CONTEXT = 2_048  # tokens; a prompt takes less of a file than the shortest file has
LARGE_CONTEXT = 8_192  # so that a prompt of 4,000 tokens is in no way cut
KEYS = 30


def main(arguments: Sequence[str] | None = None, *, engine_command: Sequence[str] = ()) -> int:
    """The command line. Exit code 1 if keys failed or suggestions differed, 2 if it could not be run."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    try:
        sources = read_sources(options.files or [str(path) for path in standard_library()])
        plan = Plan(middle(sources, keys_needed(options.keys)), sources, options.keys, options.seed)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            result = asyncio.run(_Scale(options, plan, progress, engine_command).run())
    except (ForetypeError, ValueError) as error:
        console.print(f"bench.scale: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console().print(*_tables(result))
    return 1 if result["failed"] or result["differing_suggestions"] else 0


class _Scale:
    def __init__(
        self, options: argparse.Namespace, plan: Plan, progress: Progress, engine_command: Sequence[str]
    ) -> None:
        self._options = options
        self._plan = plan
        self._progress = progress
        self._command = engine_command
        self._parts = options.part or PARTS
        self._result: dict[str, Any] = {"failed": 0, "differing_suggestions": 0, "not_reached": []}

    async def run(self) -> dict[str, Any]:
        await self._run(SMALL_CONTEXT, ("file-lines", "open-documents", "editors"))
        await self._run(LARGE_CONTEXT, ("context-tokens", "cold"))
        found = ratios(self._result)
        return {
            **self._result,
            "ratios": found,
            "bars": {name: BARS[name] for name in found},
            "met": met(found),
            "keys": self._plan.keys,
            "seed": self._plan.seed,
        }

    async def _run(self, context: int, parts: Sequence[str]) -> None:
        """Those of `parts` that were asked for, on an engine with this context."""
        parts = [part for part in parts if part in self._parts]
        if not parts:
            return
        task = self._progress.add_task("engine", total=1.0)

        def show(state: State) -> None:
            self._progress.update(task, description=state.detail or state.phase, completed=state.fraction or 0.0)

        settings = {"context_tokens": context}
        async with PrivateEngine(self._options.pair, settings=settings, command=self._command, on_state=show) as engine:
            for part in parts:
                self._progress.update(task, description=part)
                async with AsyncExitStack() as stack:
                    await self._measure(part, Parts(engine, self._plan, stack))
            status = await engine.status()
        self._result |= {"pair": status.state.pair, "device": status.device, "dtype": status.dtype}
        self._result["slots"] = status.slots_total

    async def _measure(self, part: str, parts: Parts) -> None:
        match part:
            case "file-lines":
                found = await parts.by_file_lines()
                self._result["differing_suggestions"] = differing(found)
                self._take("by_file_lines", by_size(found))
            case "open-documents":
                self._take("by_open_documents", by_size(await parts.by_open_documents()))
            case "editors":
                self._take("by_editors", by_editors(await parts.by_editors()))
            case "context-tokens":
                found = await parts.by_context_tokens()
                usable = reached(found)
                self._result["not_reached"] = [size for size in found if size not in usable]
                self._take("by_context_tokens", by_size(usable))
            case "cold":
                self._take("cold_beside_warm", cold_beside_warm(await parts.cold_beside_warm()))

    def _take(self, name: str, figures: dict[str, Any]) -> None:
        self._result[name] = figures
        self._result["failed"] += sum(size.get("failed", 0) for size in figures.values() if isinstance(size, dict))


def _tables(result: dict[str, Any]) -> list[Table]:
    title = f"{result['pair']} on {result['device']} ({result['dtype']})"
    sizes = Table("", "size", "key → suggestion, p50", "p95", "p99", "first text, p50", title=title)
    for part, figures in result.items():
        for size, found in figures.items() if part.startswith("by_") or part == "cold_beside_warm" else ():
            if isinstance(found, dict) and "ttft_ms" in found:
                key = found["keystroke_to_suggestion_ms"]
                times = (key["p50"], key["p95"], key["p99"], found["ttft_ms"]["p50"])
                sizes.add_row(part, size, *("–" if ms is None else f"{ms:.0f} ms" for ms in times))
    bars = Table("ratio", "is", "at most")
    for name, value in result["ratios"].items():
        colour = "green" if result["met"][name] else "red"
        bars.add_row(name, f"[{colour}]{value}[/]", str(result["bars"][name]))
    return [sizes, bars] if result["ratios"] else [sizes]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale", description="What a key costs as files, contexts, documents and editors grow."
    )
    parser.add_argument("--pair", default="embedded", help="a pair by name, see `foretype pairs`")
    parser.add_argument("--files", action="append", metavar="GLOB", help="default: modules of the standard library")
    parser.add_argument("--part", action="append", choices=PARTS, help="may be repeated (default: all)")
    parser.add_argument("--keys", type=at_least(1), default=KEYS, metavar="N", help=f"of each size (default: {KEYS})")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="shuffles the code around the place")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
