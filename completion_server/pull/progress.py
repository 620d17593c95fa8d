"""Tells a person how far a pull is: a bar on a terminal, plain lines where there is none."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, float], None]
"""Takes what is being done, one line for a person, and the share that is done, 0..1; called any number of times."""


def silent(_text: str, _fraction: float) -> None:
    """For callers that show nothing."""


@contextmanager
def shown(title: str) -> Iterator[Progress]:
    """A `Progress` that writes to standard error, which leaves standard output to results."""
    if not sys.stderr.isatty():
        yield _lines(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda text, fraction: bar.update(task, description=f"{title}: {text}", completed=fraction)


def _lines(title: str) -> Progress:
    last = ""

    def report(text: str, _fraction: float) -> None:
        nonlocal last
        if text != last:
            print(f"{title}: {text}", file=sys.stderr, flush=True)  # noqa: T201 - this is the command's output
            last = text

    return report
