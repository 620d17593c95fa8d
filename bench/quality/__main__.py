"""`python -m bench.quality`: suggestions at cursors of real code, against what its authors wrote.

Ours come through the language server and a private engine, as an editor gets them; beside them, in the same run, stands
the raw continuation of the same model. Interrupted, or where a cursor fails, it reports on those that it has done.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence

from rich.console import Console

from bench.quality.options import add_options, chosen_cursors, progress_on
from bench.quality.parts import PARTS
from bench.quality.run import Run
from bench.quality.table import table
from completion_server.errors import ForetypeError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, *, engine_command: Sequence[str] = ()) -> int:
    """The command line. Exit code 1 if a cursor failed, 2 if nothing could be measured, 130 if it was interrupted."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    code = 0
    try:
        with progress_on(console) as progress:
            cursors = chosen_cursors(options, progress)
            without = PARTS if options.ablations else options.without
            run = Run(options.pair, cursors, progress, without=without, command=engine_command)
            try:
                asyncio.run(run.run())
            except KeyboardInterrupt:
                code = INTERRUPTED
            except ForetypeError as error:
                if not run.outcomes:
                    raise
                _complain(console, error)
                code = 1
    except (ForetypeError, ValueError) as error:
        _complain(console, error)
        return 2
    if not run.outcomes:
        return code
    result = {**run.report(), "seed": options.seed}
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console().print(table(result))
    return code


def _complain(console: Console, error: Exception) -> None:
    console.print(f"quality: {error}", style="red", markup=False, soft_wrap=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.quality", description="Suggestions at cursors of real code, against what authors wrote."
    )
    add_options(parser)
    parser.add_argument(
        "--without",
        action="append",
        choices=PARTS,
        default=[],
        help="once more without this; may be repeated",
    )
    parser.add_argument("--ablations", action="store_true", help=f"--without each of {', '.join(PARTS)}")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
