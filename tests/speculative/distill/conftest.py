from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor

from speculative.distill.fakes import ChainTarget
from speculative.distill.recording import Recording, RecordingPlan

VOCABULARY = 24


class MemoryFiles:
    """Tensor files that are kept in memory; the paths are made so that their names can be found again."""

    def __init__(self) -> None:
        self.saved: dict[Path, dict[str, Tensor]] = {}

    def save(self, path: Path, tensors: Mapping[str, Tensor]) -> None:
        path.touch()
        self.saved[path] = {name: tensor.detach().clone() for name, tensor in tensors.items()}

    def load(self, path: Path) -> dict[str, Tensor]:
        return {name: tensor.clone() for name, tensor in self.saved[path].items()}


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


@pytest.fixture
def target() -> ChainTarget:
    """Every token is followed by the one five further on."""
    return ChainTarget([(t + 5) % VOCABULARY for t in range(VOCABULARY)])


@pytest.fixture
def recording(target: ChainTarget, tmp_path: Path) -> Recording:
    """Sixteen greedy windows of 12 given tokens and 8 of the target's."""
    plan = RecordingPlan(windows=16, prompt=12, continuation=8, hidden=target.shape.hidden, batch=8)
    prompts = torch.randint(VOCABULARY, (16, 12), generator=torch.Generator().manual_seed(1))
    recording = Recording.create(tmp_path / "recording", plan, prompts)
    recording.record(target, lambda *_: None)
    return recording
