"""`python -m completion_server.scripted --script FILE.json`: serves an engine by script."""

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

from completion_server.errors import ForetypeError
from completion_server.instance import Running
from completion_server.scripted.backend import PAIR, ScriptedBackend
from completion_server.scripted.script import read_script
from completion_server.server import serve


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit code, 0 also if an engine runs already."""
    parent = os.getppid()
    parser = argparse.ArgumentParser(prog="python -m completion_server.scripted", description="an engine by script")
    parser.add_argument("--script", type=Path, required=True, help="JSON file with the script")
    parser.add_argument("--exit-after-idle", type=float, default=None, metavar="SECONDS")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when the calling process ends")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    try:
        backend = ScriptedBackend(read_script(options.script.read_text()))
        found = asyncio.run(
            serve(
                backend,
                pair=PAIR,
                exit_after_idle_s=options.exit_after_idle,
                parent_pid=parent if options.exit_with_parent else None,
            )
        )
    except (ForetypeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 1
    if isinstance(found, Running):
        print(f"an engine runs already (process {found.pid}, pair {found.pair})", file=sys.stderr)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
