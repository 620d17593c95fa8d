import pytest
import torch

from speculative.randomness import SeededRandomness


def decisions(randomness, n=200):
    probs = torch.tensor([0.1, 0.0, 0.6, 0.3])
    return [randomness.draw(probs) if i % 2 else randomness.accept(0.5) for i in range(n)]


def test_a_seed_repeats_itself_and_streams_differ():
    assert decisions(SeededRandomness(5)) == decisions(SeededRandomness(5))
    assert decisions(SeededRandomness(5)) != decisions(SeededRandomness(5, stream=1))
    assert decisions(SeededRandomness(5)) != decisions(SeededRandomness(6))


@pytest.mark.parametrize("seed", [-1, 2**64, -(2**70)])
def test_any_integer_is_a_seed(seed):
    assert decisions(SeededRandomness(seed)) == decisions(SeededRandomness(seed))


def test_certain_things_are_certain():
    randomness = SeededRandomness(0)
    for _ in range(500):
        assert randomness.accept(1.0)
        assert not randomness.accept(0.0)
        assert randomness.draw(torch.tensor([0.0, 1e-30, 0.0])) == 1


@pytest.mark.parametrize("uniform", [0.0, 0.25, 1 - 2**-53])
def test_the_ends_of_the_interval_never_hit_weight_zero(uniform, monkeypatch):
    randomness = SeededRandomness(0)
    monkeypatch.setattr(randomness, "_uniform", lambda: uniform)
    for scale in (1e-30, 0.1, 3.0):
        assert randomness.draw(torch.tensor([0.0, scale, 0.0, 0.0])) == 1
    assert randomness.draw(torch.tensor([0.25, 0.75])) == (0 if uniform < 0.25 else 1)


def test_shares_follow_the_weights():
    randomness = SeededRandomness(3)
    probs = torch.tensor([1.0, 2.0, 0.0, 5.0])
    drawn = torch.tensor([randomness.draw(probs) for _ in range(20_000)]).bincount(minlength=4) / 20_000
    assert drawn.tolist() == pytest.approx([0.125, 0.25, 0.0, 0.625], abs=0.01)
    assert sum(randomness.accept(0.3) for _ in range(20_000)) / 20_000 == pytest.approx(0.3, abs=0.01)
