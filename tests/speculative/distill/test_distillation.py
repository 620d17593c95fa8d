"""From files to a draft, and what is written down about it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from speculative.costs import PassCosts
from speculative.distill import Distillation, DistillationPlan, NoData, OtherPlan, TrainingPlan, artefact, card
from speculative.distill.fakes import ChainTarget
from speculative.distill.state_draft import StateDraft

COSTS = PassCosts({1: 1.0, 8: 1.8}, {"model": 0.1})
TRAINING = TrainingPlan(steps=40, batch=4, chains=8, learning_rate=1e-2, warmup=5, measure_every=10)


class Killed(Exception):
    pass


def encode(text: str) -> list[int]:
    return [ord(c) % 24 for c in text]


@pytest.fixture
def plan(tmp_path: Path) -> DistillationPlan:
    folder = tmp_path / "site-packages" / "package"
    folder.mkdir(parents=True)
    for number in range(60):
        (folder / f"{number}.py").write_text(f"{number} " + "abcdefghij\n" * 9)
    return DistillationPlan(
        data=(f"{folder}/*.py",),
        any_licence=True,
        windows=24,
        held_out=2,
        prompt=12,
        continuation=8,
        vocabulary=24,
        blocks=1,
        training=TRAINING,
    )


def run(plan, target, work, files, kill_at: tuple[str, int] = ("", 0)):
    def progress(what: str, done: int, _total: int) -> None:
        if what.startswith(kill_at[0] or "never") and done >= kill_at[1]:
            raise Killed

    return Distillation(target, encode, plan, work, files).run(COSTS, progress)


@pytest.mark.parametrize("kill_at", [("the target", 1), ("training", 7), ("training", 31)])
def test_a_run_that_was_killed_anywhere_ends_the_same(plan, target, tmp_path, files, kill_at) -> None:
    whole = run(plan, target, tmp_path / "whole", files)
    with pytest.raises(Killed):
        run(plan, target, tmp_path / "parts", files, kill_at)
    parts = run(plan, target, tmp_path / "parts", files)
    assert parts.acceptance == whole.acceptance
    assert parts.course.measured == whole.course.measured
    assert torch.equal(parts.draft.fuse.weight, whole.draft.fuse.weight)


def test_it_says_when_there_are_too_few_files(plan, target, tmp_path, files) -> None:
    with pytest.raises(NoData, match="name more with --data"):
        run(DistillationPlan(data=("/nowhere/*.py",), training=TRAINING), target, tmp_path / "work", files)


def test_a_folder_is_for_one_plan(plan, target, tmp_path, files) -> None:
    run(plan, target, tmp_path / "work", files)
    with pytest.raises(OtherPlan, match="other options"):
        run(replace(plan, blocks=2), target, tmp_path / "work", files)


def test_training_goes_on_from_an_earlier_draft(plan, target, tmp_path, files) -> None:
    first = run(plan, target, tmp_path / "first", files)
    (tmp_path / "draft").mkdir()
    files.save(tmp_path / "draft" / "model.safetensors", artefact.tensors(first.draft))
    second = run(replace(plan, start=str(tmp_path / "draft")), target, tmp_path / "second", files)
    at_the_start = second.course.measured[0][2]
    assert at_the_start == pytest.approx(first.acceptance.chains)
    assert at_the_start[0] > first.course.measured[0][2][0]


def test_the_card_tells_how_it_was_made(plan, target, tmp_path, files) -> None:
    distilled = run(plan, target, tmp_path / "work", files)
    facts = card.facts(distilled, plan, "a target", "MIT", COSTS)
    assert facts["acceptance_by_position"][0] > 0.5
    assert facts["steps"] == 40
    assert facts["trained_weights"] == 2 * 16 * 16 + 3 * 16 * 32 + 2 * 16
    assert facts["weights_per_step"] == facts["trained_weights"] + 24 * 16
    (paths,) = facts["files"]["trained_on"].values()
    assert all(path.startswith("package/") for path in paths), "no path of this machine"
    text = card.text(facts)
    assert "# A draft for a target" in text
    assert f"| unknown | {len(paths)} | {len(paths)} .py |" in text
    json.dumps(facts)


def test_what_is_shipped_is_within_half_a_code_of_what_was_trained(target: ChainTarget) -> None:
    draft = StateDraft(target.shape, blocks=2)
    stored = artefact.tensors(draft)
    assert {tensor.dtype for tensor in stored.values()} == {torch.int8, torch.float32}
    restored = artefact.weights(stored)
    assert restored.keys() == draft.state_dict().keys()
    for name, weight in draft.state_dict().items():
        step = weight.abs().amax(dim=-1, keepdim=True) / 127
        assert ((restored[name] - weight).abs() <= step / 2 + 1e-7).all(), name


def test_a_row_of_zeros_survives(target: ChainTarget) -> None:
    draft = StateDraft(target.shape)
    torch.nn.init.zeros_(draft.fuse.weight)
    assert artefact.weights(artefact.tensors(draft))["fuse.weight"].abs().max() == 0
