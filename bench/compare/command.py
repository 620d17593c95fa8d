"""One comparison from its options to its files: what `foretype bench` calls."""

import asyncio
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.progress import Progress

from bench.compare.conditions import held, parse
from bench.compare.contenders import contenders
from bench.compare.environment import environment, hashes
from bench.compare.figures import names
from bench.compare.plan import PARTS, Amount, Part, plan
from bench.compare.result import command_line, result
from bench.compare.run import Run
from bench.compare.writing import check, write
from completion_server.errors import SettingsError
from completion_server.pairs import load_pairs


@dataclass(frozen=True, slots=True)
class Options:
    """`pairs` as it was written; `without` are parts to leave out; `fail_if` are conditions."""

    pairs: str
    files: tuple[str, ...]
    out: Path
    amount: Amount = field(default_factory=Amount)
    without: tuple[str, ...] = ()
    fail_if: tuple[str, ...] = ()
    one_by_one: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """`result` is None where it was interrupted before anything was done; `report` is the page that was written."""

    result: dict[str, Any] | None
    report: Path | None
    interrupted: bool


def compare(options: Options, progress: Progress) -> Outcome:
    """Measure, judge and write. Raises SettingsError or ValueError, before it begins, for senseless options."""
    parts = _parts(options.without)
    chosen = contenders(options.pairs, load_pairs())
    conditions = [parse(text, names(parts), [one.name for one in chosen]) for text in options.fail_if]
    work = plan(options.files, options.amount, parts, _counting(progress, options.amount.cursors, parts))
    check(options.out)
    models = hashes((model for one in chosen for model in one.pair.models), _telling(progress))
    run = Run(chosen, work, progress, one_by_one=options.one_by_one)
    interrupted = False
    try:
        with _ended_like_ctrl_c():
            asyncio.run(run.run())
    except KeyboardInterrupt:
        interrupted = True
        if not any(one.typed or one.judged or one.decoded for one in run.measured):
            return Outcome(None, None, interrupted)
    command = command_line([one.name for one in chosen], options.files, _written(options))
    found = result(run.measured, work, options.amount, parts, environment(models), command, interrupted=interrupted)
    figures = {name: pair.get("figures", {}) for name, pair in found["pairs"].items()}
    found["conditions"] = list(held(conditions, figures))
    return Outcome(found, write(options.out, found), interrupted)


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Who ends the process, as a job's time limit does, wants what is done no less."""
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _parts(without: Collection[str]) -> tuple[Part, ...]:
    unknown = set(without) - set(PARTS)
    if unknown:
        raise SettingsError(f"--without cannot be {min(unknown)[:60]!r}; allowed: {', '.join(PARTS)}")
    parts = tuple(part for part in PARTS if part not in without)
    if not parts:
        raise SettingsError("--without leaves nothing to measure")
    return parts


def _written(options: Options) -> Sequence[str]:
    """The options of the command but for pairs and files."""
    amount = options.amount
    numbers = {"keys": amount.keys, "cursors": amount.cursors, "prompts": amount.prompts, "seed": amount.seed}
    return [
        *(word for name, number in numbers.items() for word in (f"--{name}", str(number))),
        *(word for part in options.without for word in ("--without", part)),
        *(["--one-by-one"] if options.one_by_one else []),
        *(word for condition in options.fail_if for word in ("--fail-if", condition)),
    ]


def _counting(progress: Progress, cursors: int, parts: Collection[Part]) -> Callable[[int], None]:
    if "quality" not in parts:
        return lambda _: None
    task = progress.add_task("choosing cursors", total=cursors)

    def count(done: int) -> None:
        progress.update(task, completed=done, visible=done < cursors)

    return count


def _telling(progress: Progress) -> Callable[[str], None]:
    task = progress.add_task("reading models", total=None, visible=False)
    return lambda name: progress.update(task, description=f"hash of {name}", visible=True)
