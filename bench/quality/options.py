"""Which pair is asked at which cursors: the options that measuring and fitting have in common."""

import argparse
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bench.arguments import at_least
from bench.quality.corpus import cursors, matching
from bench.quality.cursors import Cursor
from bench.quality.packages import PURPOSES, patterns
from bench.sources import standard_library


def add_options(parser: argparse.ArgumentParser, n: int = 100) -> None:
    """`n` is the default number of cursors."""
    parser.add_argument("--pair", default="embedded", help="a pair by name, see `foretype pairs`")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--files",
        action="append",
        metavar="GLOB",
        help="files to draw cursors from, ** for any folders; may be repeated (default: some of the standard library)",
    )
    where.add_argument("--packages", choices=PURPOSES, help="draw cursors from pinned packages; fetches them once")
    parser.add_argument("--n", type=at_least(1), default=n, metavar="N", help=f"cursors (default: {n})")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses the cursors (default: 0)")


def chosen_cursors(options: argparse.Namespace, progress: Progress) -> list[Cursor]:
    """Raises `SettingsError` where files or packages cannot be had, `ValueError` where they have no place to type."""
    task = progress.add_task("choosing cursors", total=options.n)
    found = cursors(
        _paths(options, progress), options.n, options.seed, lambda count: progress.update(task, completed=count)
    )
    progress.remove_task(task)
    return found


def progress_on(console: Console) -> AbstractContextManager[Progress]:
    return Progress(console=console, transient=True, disable=not console.is_terminal)


def _paths(options: argparse.Namespace, progress: Progress) -> list[Path]:
    if options.files:
        return matching(options.files)
    if not options.packages:
        return standard_library()
    task = progress.add_task("packages", total=None)
    found = matching(
        patterns(options.packages, lambda package: progress.update(task, description=f"package {package.name}"))
    )
    progress.remove_task(task)
    return found
