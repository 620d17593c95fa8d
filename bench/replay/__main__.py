"""`python -m bench.replay`: types real files through the language server and reports what a person waits.

A private engine serves it. The pace is lockstep (every key waits for its answer), human (keys come as people type),
that of a recorded trace, or human in more and more editors at once. Knows nothing of how anything is measured.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bench.replay.editors import Editors
from bench.replay.human import Human
from bench.replay.lockstep import Lockstep
from bench.replay.options import parse
from bench.replay.tables import tables
from bench.sources import read_sources
from completion_server.errors import ForetypeError

_PACES: Mapping[str, Callable[..., Lockstep | Human | Editors]] = {
    "lockstep": Lockstep,
    "human": Human,
    "trace": Human,
    "editors": Editors,
}
_OWN_FILES = str(Path(__file__).parents[2] / "completion_server" / "*.py")


def main(arguments: Sequence[str] | None = None, *, engine_command: Sequence[str] = ()) -> int:
    """The command line. Exit code 1 if a key failed or a suggestion differed, 2 if the replay could not be run."""
    options = parse(arguments)
    console = Console(stderr=True)
    try:
        sources = read_sources(options.files or [_OWN_FILES])
        with _progress(console) as progress:
            pace = _PACES[options.pace](options, sources, progress, engine_command)
            result = asyncio.run(pace.run())
    except (ForetypeError, ValueError) as error:
        console.print(f"replay: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console().print(*tables(result))
    return 1 if result["failed"] or result["identical_to_target_only"] is False else 0


def _progress(console: Console) -> AbstractContextManager[Progress]:
    return Progress(console=console, transient=True, disable=not console.is_terminal)


if __name__ == "__main__":
    sys.exit(main())
