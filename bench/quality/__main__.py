"""`python -m bench.quality`: suggestions at cursors of real code, against what its authors wrote.

Ours come through the language server and a private engine, as an editor gets them; beside them, in the same run, stands
the raw continuation of the same model. Interrupted, it reports on the cursors that it has done.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bench.arguments import at_least
from bench.quality.corpus import cursors, matching
from bench.quality.run import Run
from bench.quality.table import table
from bench.sources import standard_library
from completion_server.errors import ForetypeError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, *, engine_command: Sequence[str] = ()) -> int:
    """The command line. Exit code 2 if nothing could be measured, 130 if it was interrupted."""
    options = parser().parse_args(arguments)
    console = Console(stderr=True)
    code = 0
    try:
        found = cursors(_paths(options.files), options.n, options.seed)
        run = Run(options.pair, found, command=engine_command)
        try:
            with progress_on(console) as progress:
                asyncio.run(run.run(progress))
        except KeyboardInterrupt:
            code = INTERRUPTED
    except (ForetypeError, ValueError) as error:
        console.print(f"quality: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    if not run.outcomes:
        return code
    result = {**run.report(), "seed": options.seed}
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console().print(table(result))
    return code


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.quality",
        description="Suggestions at cursors of real code, against what was written there.",
    )
    parser.add_argument("--pair", default="embedded", help="a pair by name, see `foretype pairs`")
    parser.add_argument(
        "--files",
        action="append",
        metavar="GLOB",
        help="files to draw cursors from, ** for any folders; may be repeated (default: some of the standard library)",
    )
    parser.add_argument("--n", type=at_least(1), default=100, metavar="N", help="cursors (default: 100)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses the cursors (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def progress_on(console: Console) -> AbstractContextManager[Progress]:
    return Progress(console=console, transient=True, disable=not console.is_terminal)


def _paths(patterns: Sequence[str] | None) -> list[Path]:
    return matching(patterns) if patterns else standard_library()


if __name__ == "__main__":
    sys.exit(main())
