"""seq-greedy: every drafter at every k gives the target's tokens; and the comparison does see a difference."""

import json

import pytest
import torch

from bench.lossless import Models, compare, drafters, main
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from speculative.generation import Generation


def tiny() -> Models:
    tokenizer = tiny_tokenizer()
    return Models(tiny_model(tokenizer, seed=1), tiny_model(tokenizer, seed=2, layers=1))


def test_tiny_models_in_float64():
    models = tiny()
    result = compare(models, prompts=60, tokens=8, rows=30, seed=4)
    assert (result["dtype"], result["k"], len(result["by_drafter"])) == ("float64", [0, 1, 2, 4, 8, 16], 14)
    assert result["comparisons"] == 60 * 14 * 5
    assert result["differences"] == 0


def test_a_difference_is_counted(monkeypatch):
    """A verification that accepts whatever is drafted must be found out."""
    models = tiny()
    real = Generation.commit

    def gullible(self, logits):
        if len(logits) > 1:
            logits = torch.zeros_like(logits)
        return real(self, logits)

    monkeypatch.setattr(Generation, "commit", gullible)
    result = compare(models, prompts=6, tokens=6, rows=3, seed=4, ks=(2,))
    assert result["by_drafter"]["oracle"] > 0
    assert result["by_drafter"]["empty"] == 0


def test_every_drafter_is_named():
    assert {"tail", "n-gram", "model", "oracle", "always-wrong", "over-long"} <= drafters(tiny()).keys()


def test_a_pair_that_does_not_exist_is_one_line(capsys):
    assert main(["--pair", "nothing"]) == 2
    assert "no pair is called" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("embedded_model")
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_the_embedded_target(capsys, dtype):
    ks = ("--k", "1", "--k", "4", "--k", "16")
    assert main(["--pair", "embedded", "--dtype", dtype, "--prompts", "3", "--tokens", "6", *ks, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["dtype"], result["comparisons"], result["differences"]) == (dtype, 3 * 12 * 3, 0)
