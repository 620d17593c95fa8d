"""A run that was killed and taken up again must not differ from one that was left alone."""

from pathlib import Path

import pytest
import torch

from speculative.costs import PassCosts
from speculative.distill.acceptance import Acceptance, measure
from speculative.distill.fakes import ChainTarget
from speculative.distill.recording import Recording
from speculative.distill.state_draft import StateDraft
from speculative.distill.training import Course, Training, TrainingPlan
from speculative.distill.words import Words

PLAN = TrainingPlan(steps=60, batch=8, learning_rate=1e-2, warmup=5, measure_every=5, patience=10)
COSTS = PassCosts({1: 1.0, 8: 1.8}, {"model": 0.1})


class Killed(Exception):
    pass


class Bench:
    """A training with all that it needs; `again` is a new process in the same folder."""

    def __init__(self, target: ChainTarget, recording: Recording, folder: Path, files, plan: TrainingPlan = PLAN):
        folder.mkdir(exist_ok=True)
        self._words = Words.of(target, torch.arange(24))
        self._recording = recording
        self.draft = StateDraft(target.shape)
        self.draft.begin_at(target, recording.tokens.long(), recording.states)
        self._training = Training(self.draft, self._words, recording, plan, folder, files)

    def measured(self) -> tuple[Acceptance, float]:
        acceptance = measure(self.draft, self._words, self._recording, depth=3)
        return acceptance, acceptance.gain(COSTS)[0]

    def run(self, kill_at: int = 0) -> Course:
        def progress(_what: str, done: int, _total: int) -> None:
            if done == kill_at:
                raise Killed

        return self._training.run(self.measured, progress)


def test_it_learns_what_the_target_says(target, recording, tmp_path, files) -> None:
    bench = Bench(target, recording, tmp_path / "work", files)
    before = bench.measured()[0].chains
    bench.run()
    after = bench.measured()[0].chains
    assert after[0] > 0.9 > before[0]
    assert after[2] > before[2]


@pytest.mark.parametrize("kill_at", [5, 12, 29])
def test_a_killed_run_goes_on_and_ends_the_same(target, recording, tmp_path, files, kill_at: int) -> None:
    whole = Bench(target, recording, tmp_path / "whole", files)
    course = whole.run()
    with pytest.raises(Killed):
        Bench(target, recording, tmp_path / "parts", files).run(kill_at)
    again = Bench(target, recording, tmp_path / "parts", files)
    assert again.run().measured == course.measured
    for name, weight in whole.draft.state_dict().items():
        assert torch.equal(again.draft.state_dict()[name], weight), name


def test_it_stops_when_nothing_is_gained_and_keeps_the_best(target, recording, tmp_path, files) -> None:
    plan = TrainingPlan(steps=100, batch=8, learning_rate=0.0, measure_every=2, patience=3)
    bench = Bench(target, recording, tmp_path / "work", files, plan)
    weights = {name: weight.clone() for name, weight in bench.draft.state_dict().items()}
    course = bench.run()
    assert (course.step, course.best, course.stale) == (6, 0, 3)
    assert all(torch.equal(bench.draft.state_dict()[name], weight) for name, weight in weights.items())


def test_windows_are_all_seen_once_before_any_is_seen_again(target, recording, tmp_path, files) -> None:
    plan = TrainingPlan(batch=4)
    training = Training(StateDraft(target.shape), Words.of(target, torch.arange(24)), recording, plan, tmp_path, files)
    first = torch.cat([training._rows(step) for step in range(4)]).tolist()
    second = torch.cat([training._rows(step) for step in range(4, 8)]).tolist()
    assert sorted(first) == sorted(second) == list(range(16))
    assert first != second


def test_the_rate_rises_then_falls() -> None:
    plan = TrainingPlan(steps=100, warmup=10, learning_rate=1.0)
    assert plan.rate(0) == pytest.approx(0.1, rel=0.01)
    assert plan.rate(9) > 0.95
    assert plan.rate(100) == pytest.approx(0.05)


def test_chains_grow() -> None:
    plan = TrainingPlan(steps=60, unroll=3)
    assert [plan.unrolled(step) for step in (0, 19, 20, 39, 40, 59)] == [1, 1, 2, 2, 3, 3]
