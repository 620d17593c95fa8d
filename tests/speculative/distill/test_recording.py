from pathlib import Path

import pytest
import torch

from speculative.distill.fakes import ChainTarget
from speculative.distill.recording import Recording, RecordingPlan

PLAN = RecordingPlan(windows=10, prompt=6, continuation=4, hidden=16, temperature=1.0, seed=3, batch=4)
PROMPTS = torch.arange(60).view(10, 6) % 24


class Interrupted(Exception):
    pass


def silent(_what: str, _done: int, _total: int) -> None:
    pass


def interrupt_at(count: int):
    def progress(_what: str, done: int, _total: int) -> None:
        if done >= count:
            raise Interrupted

    return progress


def test_it_holds_prompts_continuations_and_states(target: ChainTarget, tmp_path: Path) -> None:
    recording = Recording.create(tmp_path, PLAN, PROMPTS)
    recording.record(target, silent)
    assert recording.done == 10
    assert torch.equal(recording.tokens[:, :6].long(), PROMPTS)
    last = int(PROMPTS[0, -1])
    assert recording.tokens[0, 6:].tolist() == [(last + 5 * i) % 24 for i in range(1, 5)]
    said = (recording.states[0].float() @ target.head.T).argmax(-1)
    assert said[:-1].tolist()[5:] == recording.tokens[0, 6:].tolist()


def test_every_fourth_window_is_sampled(target: ChainTarget, tmp_path: Path) -> None:
    recording = Recording.create(tmp_path, PLAN, PROMPTS)
    recording.record(target, silent)
    steps = (recording.tokens[:, 6:] - recording.tokens[:, 5:-1]) % 24
    greedy = (steps == 5).all(dim=1)
    assert greedy.nonzero().flatten().tolist() == [0, 1, 2, 4, 5, 6, 8, 9]


@pytest.mark.parametrize("stopped_at", [4, 8])
def test_one_that_was_interrupted_goes_on_and_ends_the_same(
    target: ChainTarget, tmp_path: Path, stopped_at: int
) -> None:
    whole = Recording.create(tmp_path / "whole", PLAN, PROMPTS)
    whole.record(target, silent)
    first = Recording.create(tmp_path / "parts", PLAN, PROMPTS)
    with pytest.raises(Interrupted):
        first.record(target, interrupt_at(stopped_at))
    second = Recording.open(tmp_path / "parts")
    assert second is not None
    assert second.done == stopped_at
    batches = target.batches
    second.record(target, silent)
    assert target.batches - batches == (10 - stopped_at + 3) // 4, "what was there is not made again"
    assert torch.equal(second.tokens, whole.tokens)
    assert torch.equal(second.states, whole.states)


def test_there_is_none_in_an_empty_folder(tmp_path: Path) -> None:
    assert Recording.open(tmp_path) is None
