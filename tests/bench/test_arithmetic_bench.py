"""Quality of an arithmetic: sums by hand, and one run over a tiny model on disk."""

import json
import math

import pytest
import torch

from bench.arithmetic import Comparison, compare, main


def test_a_comparison_by_hand():
    reference = torch.tensor([[0.0, math.log(3.0)], [math.log(3.0), 0.0]])  # probabilities 1/4 and 3/4
    ours = torch.tensor([[0.0, math.log(3.0)], [0.0, math.log(1.5)]])  # 2/5 and 3/5 in the second row
    found = compare(ours, reference, torch.tensor([1, 0]))
    assert found.positions == 2
    assert found.same == 1
    assert found.reference_nll == pytest.approx(-2 * math.log(0.75))
    assert found.nll == pytest.approx(-math.log(0.75) - math.log(0.4))


def test_sums_add_up_and_are_judged():
    summary = (Comparison(50, 48, 10.0, 10.0) + Comparison(50, 47, 10.1, 10.0)).summary()
    assert summary["same_token_rate"] == 0.95
    assert summary["nll_increase"] == 0.005
    assert summary["nll"] == 0.201
    assert summary["met"] == {"same_token_rate": False, "nll_increase": False}


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_run_over_a_tiny_pair(tmp_path, tiny_pair, capsys, dtype):
    (tmp_path / "a.py").write_text("def add(left, right):\n    return left\n\n" * 40)
    arguments = ["--pair", tiny_pair, "--files", str(tmp_path / "*.py"), "--dtype", dtype, "--tokens", "200", "--json"]
    code = main(arguments)
    result = json.loads(capsys.readouterr().out)
    assert result["positions"] == 199
    assert result["dtype"] == dtype
    assert code == int(not all(result["met"].values()))
    if dtype == "float32":
        assert result["same_token_rate"] == 1
        assert result["nll_increase"] == 0
    else:
        assert result["nll"] != result["reference_nll"]


def test_files_without_text_are_one_line(tmp_path, tiny_pair, capsys):
    (tmp_path / "a.py").write_text("")
    assert main(["--pair", tiny_pair, "--files", str(tmp_path / "*.py")]) == 2
    assert "no two tokens" in capsys.readouterr().err
