"""`foretype distill`: makes a draft for a target from source files at hand."""

import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import torch

    from speculative import PassCosts
    from speculative.distill import DistillationPlan, Distilled, Progress, TensorFiles

_COSTS = {1: 1.0, 2: 1.15, 4: 1.4, 8: 1.8}  # of target passes by width, as on a CPU; only how they compare counts
_STEP = 0.08  # of a target pass: what a step of the draft costs


def distill(
    data: Annotated[list[str], typer.Option(help="Source files, as a glob; may be repeated, and is taken in turn.")],
    out: Annotated[Path, typer.Option(help="Folder for the draft. What is unfinished is kept in its folder work.")],
    target: Annotated[str, typer.Option(help="The model to draft for, named as in `foretype pull`.")] = "embedded",
    exclude: Annotated[list[str] | None, typer.Option(help="Files to leave out, as a glob; may be repeated.")] = None,
    any_licence: Annotated[bool, typer.Option("--any-licence", help="Also files under no permissive licence.")] = False,
    windows: Annotated[int, typer.Option(min=1, help="Pieces of source files to learn from.")] = 1024,
    prompt: Annotated[int, typer.Option(min=16, help="Tokens of a piece.")] = 896,
    continuation: Annotated[int, typer.Option(min=8, help="Tokens that the target adds to each.")] = 48,
    start: Annotated[Path | None, typer.Option(help="An earlier draft of the same shape, to go on from.")] = None,
    rate: Annotated[float, typer.Option(help="Learning rate at its height; less when going on.")] = 1.5e-3,
    vocabulary: Annotated[int, typer.Option(min=1, help="Tokens that the draft can say.")] = 8192,
    blocks: Annotated[int, typer.Option(min=1, help="MLP blocks of the draft: more guess better and cost more.")] = 2,
    steps: Annotated[int, typer.Option(min=1, help="Training steps at most.")] = 5000,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    licence: Annotated[str, typer.Option(help="Licence of the draft, for its card.")] = "Apache-2.0",
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
) -> None:
    """Make a draft for a target: a small model that guesses what the target would say.

    Some minutes on a GPU, an hour or two on a CPU. It can be stopped at any time; the same command goes on.
    """
    from completion_server.errors import SettingsError
    from completion_server.models.device import choose_device
    from completion_server.pairs import ModelRef
    from completion_server.pull import locate
    from speculative.distill import DistillationPlan, NoData, OtherPlan, TrainingPlan

    ref = ModelRef.parse(target)
    plan = DistillationPlan(
        data=tuple(data),
        exclude=tuple(exclude or ()),
        any_licence=any_licence,
        windows=windows,
        vocabulary=vocabulary,
        prompt=prompt,
        continuation=continuation,
        blocks=blocks,
        start=str(start or ""),
        seed=seed,
        training=TrainingPlan(steps=steps, learning_rate=rate, seed=seed),
    )
    try:
        with _shown() as progress:
            distilled = run(plan, locate(ref), str(ref), out, choose_device(device), licence, progress)
    except (NoData, OtherPlan) as error:
        raise SettingsError(str(error)) from error
    shares = ", ".join(f"{share:.0%}" for share in distilled.acceptance.by_position)
    typer.echo(f"{out}: accepted by position {shares}, after {distilled.course.best} steps")


def run(
    plan: "DistillationPlan",
    folder: Path,
    target: str,
    out: Path,
    device: "torch.device",
    licence: str,
    progress: "Progress",
) -> "Distilled":
    """Distil for the model in `folder`, which its card calls `target`, and write the draft into `out`."""
    import torch
    from tokenizers import Tokenizer

    from completion_server.models.teacher import Teacher
    from completion_server.models.tensor_files import Safetensors
    from completion_server.tokenization import TextTokenizer
    from speculative import PassCosts
    from speculative.distill import Distillation

    files = Safetensors()
    costs = PassCosts(_COSTS, {"model": _STEP})
    text = TextTokenizer(Tokenizer.from_file(str(folder / "tokenizer.json")))
    teacher = Teacher(folder, device, torch.bfloat16)
    work = out / "work"
    distilled = Distillation(teacher, text.encode, plan, work, files).run(costs, progress)
    _write(distilled, plan, target, out, licence, costs, files)
    shutil.rmtree(work)
    return distilled


def _write(
    distilled: "Distilled",
    plan: "DistillationPlan",
    target: str,
    out: Path,
    licence: str,
    costs: "PassCosts",
    files: "TensorFiles",
) -> None:
    from completion_server.models import vocabulary
    from speculative.distill import artefact, card

    facts = card.facts(distilled, plan, target, licence, costs)
    configuration = artefact.configuration(
        distilled.draft, len(distilled.ids), target, distilled.acceptance.by_position
    )
    files.save(out / "model.safetensors", artefact.tensors(distilled.draft))
    vocabulary.write(out, distilled.ids)
    (out / "config.json").write_text(json.dumps(configuration, indent=2) + "\n", encoding="utf-8")
    (out / "card.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (out / "README.md").write_text(card.text(facts), encoding="utf-8")


@contextmanager
def _shown() -> Iterator["Progress"]:
    """A bar with the time left on a terminal; elsewhere a line now and then."""
    if not sys.stderr.isatty():
        yield _Lines().report
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(True))
    with Bars(*columns, console=Console(stderr=True), speed_estimate_period=600) as bars:
        tasks: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            part = what.partition(",")[0]
            if part not in tasks:
                tasks[part] = bars.add_task(what, total=total, completed=done)
            bars.update(tasks[part], description=what, completed=done, total=total)

        yield report


class _Lines:
    """Progress as lines, one in so many seconds at most and one for each new part, with the time that is left of it."""

    EVERY = 30.0

    def __init__(self) -> None:
        self._part = ""
        self._began = self._last = 0.0
        self._first = 0

    def report(self, what: str, done: int, total: int) -> None:
        now, part = time.monotonic(), what.partition(",")[0]
        if part != self._part:
            self._part, self._began, self._first = part, now, done
        elif now - self._last < self.EVERY and done < total:
            return
        self._last = now
        gained = done - self._first
        left = f", {(now - self._began) / gained * (total - done) / 60:.0f} min left" if gained else ""
        typer.echo(f"{what}: {done} of {total}{left}", err=True)
