"""What the target said over windows of text, on disk: tokens and its hidden states, in files that are mapped.

A recording is made once and read many times; it may be larger than memory. One that was interrupted goes on where it
stopped and ends the same, because every batch draws from a generator of its own.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from speculative.distill.target import Target

Progress = Callable[[str, int, int], None]
"""What is being done, how many of how many are done."""

_SAMPLED = 4  # every fourth window is sampled, the others are greedy


@dataclass(frozen=True, slots=True)
class RecordingPlan:
    """`windows` of `prompt` given tokens that the target continues by `continuation` of its own.

    `hidden` is the width of its states. With a `temperature` of 0 all are greedy.
    """

    windows: int
    prompt: int
    continuation: int
    hidden: int
    temperature: float = 0.0
    seed: int = 0
    batch: int = 64

    @property
    def length(self) -> int:
        return self.prompt + self.continuation


class Recording:
    """`tokens` `[windows, length]` int32 and `states` `[windows, length, hidden]` bfloat16, of which `done` are valid.

    `open` finds it again; `create` starts it with the prompts.
    """

    def __init__(self, folder: Path, plan: RecordingPlan, done: int) -> None:
        self.plan = plan
        self.done = done
        self._folder = folder
        self.tokens = _mapped(folder / "tokens.int32", (plan.windows, plan.length), torch.int32)
        self.states = _mapped(folder / "states.bfloat16", (plan.windows, plan.length, plan.hidden), torch.bfloat16)

    @classmethod
    def create(cls, folder: Path, plan: RecordingPlan, prompts: Tensor) -> "Recording":
        """An empty recording of `prompts` `[windows, prompt]`; what was in `folder` is overwritten."""
        folder.mkdir(parents=True, exist_ok=True)
        recording = cls(folder, plan, 0)
        recording.tokens[:, : plan.prompt] = prompts.to(torch.int32)
        recording._write_progress()
        return recording

    @classmethod
    def open(cls, folder: Path) -> "Recording | None":
        """The recording in `folder`, `None` if there is none."""
        try:
            saved = json.loads((folder / "recording.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return cls(folder, RecordingPlan(**saved["plan"]), saved["done"])

    def record(self, target: Target, progress: Progress) -> None:
        """Let the target continue the windows that are missing."""
        plan = self.plan
        while self.done < plan.windows:
            rows = slice(self.done, min(self.done + plan.batch, plan.windows))
            generator = torch.Generator().manual_seed(hash((plan.seed, rows.start)))
            sampled = torch.arange(rows.start, rows.stop) % _SAMPLED == _SAMPLED - 1
            temperatures = torch.where(sampled, plan.temperature, 0.0)
            prompts = self.tokens[rows, : plan.prompt].long()
            tokens, states = target.continue_(prompts, plan.continuation, temperatures, generator)
            self.tokens[rows] = tokens.to("cpu", torch.int32)
            self.states[rows] = states.to("cpu", torch.bfloat16)
            self.done = rows.stop
            self._write_progress()
            progress("the target continues code", self.done, plan.windows)

    def _write_progress(self) -> None:
        draft = self._folder / "recording.new"
        draft.write_text(json.dumps({"plan": asdict(self.plan), "done": self.done}), encoding="utf-8")
        draft.replace(self._folder / "recording.json")


def _mapped(path: Path, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    return torch.from_file(str(path), shared=True, size=math.prod(shape), dtype=dtype).view(*shape)
