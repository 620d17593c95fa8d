"""Trains a draft on a recording, measuring what is accepted as it goes, and stops when that no longer rises.

Everything random is drawn from generators seeded by the number of the step, so that a run which was killed goes on from
its checkpoint and ends the same.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from speculative.distill import chains
from speculative.distill.acceptance import Acceptance
from speculative.distill.objective import Objective
from speculative.distill.recording import Progress, Recording
from speculative.distill.state_draft import StateDraft
from speculative.distill.words import Words


class TensorFiles(Protocol):
    """Writes and reads named tensors."""

    def save(self, path: Path, tensors: Mapping[str, Tensor]) -> None: ...

    def load(self, path: Path) -> dict[str, Tensor]: ...


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """At most `steps` of `batch` windows with `chains` from each, the share `own` of them in what the target wrote.

    Measured every `measure_every`; `patience` measurements without a better one end it. The learning rate rises over
    `warmup` steps and falls along a cosine to a twentieth.
    """

    steps: int = 5000
    batch: int = 8
    chains: int = 64
    own: float = 0.4
    learning_rate: float = 1.5e-3
    warmup: int = 50
    weight_decay: float = 0.01
    measure_every: int = 250
    patience: int = 6
    seed: int = 0
    unroll: int = 3
    objective: Objective = field(default_factory=Objective)

    def unrolled(self, step: int) -> int:
        """Length of chains, growing to `unroll`: the first token matters most and costs least."""
        return 1 + self.unroll * step // self.steps

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        falling = 0.05 + 0.95 * (1 + math.cos(math.pi * step / self.steps)) / 2
        return self.learning_rate * min(1.0, (step + 1) / self.warmup) * falling


@dataclass(slots=True)
class Course:
    """How a training went so far: `measured` holds (step, gain, chains)."""

    step: int = 0
    measured: list[tuple[int, float, tuple[float, ...]]] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The step with the highest gain, 0 before the first measurement."""
        return max(self.measured, key=lambda m: m[1])[0] if self.measured else 0

    @property
    def stale(self) -> int:
        """Measurements since the best one."""
        return sum(1 for step, *_ in self.measured if step > self.best)


Measure = Callable[[], tuple[Acceptance, float]]
"""Acceptance of the draft as it is now, and the gain by which two are compared."""


class Training:
    """Trains `draft` in place; `run` ends with the best weights that were measured.

    Matrix products are in bfloat16, weights and optimizer in float32. Checkpoints go into `folder`.
    """

    def __init__(
        self,
        draft: StateDraft,
        words: Words,
        recording: Recording,
        plan: TrainingPlan,
        folder: Path,
        files: TensorFiles,
    ) -> None:
        self.course = Course()
        self._draft, self._words, self._recording, self._plan = draft, words, recording, plan
        self._folder, self._files = folder, files
        self._device = words.head.device
        self._optimizer = torch.optim.AdamW(
            draft.parameters(), lr=plan.learning_rate, betas=(0.9, 0.95), weight_decay=plan.weight_decay
        )

    def run(self, measure: Measure, progress: Progress) -> Course:
        """Train to the end, from the last checkpoint if there is one."""
        course, plan = self.course, self._plan
        self._restore()
        if not course.measured:
            self._measured(measure)
        while course.step < plan.steps and course.stale < plan.patience:
            self._advance()
            course.step += 1
            progress(f"training, {course.measured[-1][1]:.2f}x", course.step, plan.steps)
            if course.step % plan.measure_every == 0 or course.step == plan.steps:
                self._measured(measure)
        self._draft.load_state_dict(self._files.load(self._folder / "best.safetensors"))
        return course

    def _advance(self) -> None:
        step, plan = self.course.step, self._plan
        generator = torch.Generator().manual_seed(plan.seed * 1_000_003 + step)
        rows = self._rows(step)
        drawn = chains.draw(self._recording, rows, plan.chains, plan.unrolled(step), plan.own, generator)
        for group in self._optimizer.param_groups:
            group["lr"] = plan.rate(step)
        with torch.autocast(self._device.type, torch.bfloat16):
            loss = plan.objective.loss(
                self._draft, self._words, drawn.tokens.to(self._device), drawn.states.to(self._device)
            )
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._draft.parameters(), 1.0)
        self._optimizer.step()

    def _rows(self, step: int) -> Tensor:
        """Which windows a step sees: all of them once before any again, in another order each time."""
        batch = min(self._plan.batch, self._recording.done)
        per_epoch = self._recording.done // batch
        epoch, index = divmod(step, per_epoch)
        order = torch.randperm(
            self._recording.done, generator=torch.Generator().manual_seed(self._plan.seed * 1_000_003 + epoch)
        )
        return order[index * batch : (index + 1) * batch]

    def _measured(self, measure: Measure) -> None:
        acceptance, gain = measure()
        self.course.measured.append((self.course.step, gain, acceptance.chains))
        if self.course.best == self.course.step:
            self._files.save(self._folder / "best.safetensors", self._draft.state_dict())
        self._save()

    def _save(self) -> None:
        """Tensors first, under a name of their own, then the small file that names them: it is whole or not there."""
        names = [name for name, _ in self._draft.named_parameters()]
        tensors = dict(self._draft.state_dict())
        for index, state in self._optimizer.state_dict()["state"].items():
            tensors |= {f"{names[index]}/{key}": value for key, value in state.items()}
        path = self._folder / f"step-{self.course.step}.safetensors"
        self._files.save(path, tensors)
        draft = self._folder / "course.new"
        draft.write_text(json.dumps({"step": self.course.step, "measured": self.course.measured}), encoding="utf-8")
        draft.replace(self._folder / "course.json")
        for old in self._folder.glob("step-*.safetensors"):
            if old != path:
                old.unlink()

    def _restore(self) -> None:
        try:
            saved: dict[str, Any] = json.loads((self._folder / "course.json").read_text(encoding="utf-8"))
        except OSError:
            return
        self.course.step = saved["step"]
        self.course.measured = [(step, gain, tuple(chains)) for step, gain, chains in saved["measured"]]
        tensors = self._files.load(self._folder / f"step-{self.course.step}.safetensors")
        names = [name for name, _ in self._draft.named_parameters()]
        self._draft.load_state_dict({name: tensors.pop(name) for name in list(self._draft.state_dict())})
        states: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            parameter, _, key = name.rpartition("/")
            states.setdefault(names.index(parameter), {})[key] = value
        if states:
            self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": states})
