"""The pure parts of `bench.engine`, and one run over a tiny model on disk."""

import json
from pathlib import Path

import pytest

from bench import engine, passes
from bench.engine import _agreement, _speedup, main


def test_agreement_by_hand():
    assert _agreement([1, 2, 3, 4], [1, 9, 3]) == 0.5
    assert _agreement([], []) == 0.0


def test_a_speedup_by_hand():
    assert _speedup([(3.0, 2.0), (3.0, 2.0)]) == {"tokens_per_s_ratio": 1.5, "interval": [1.5, 1.5], "runs": 2}
    assert _speedup([]) == {}


def test_a_run_over_a_tiny_pair(tmp_path: Path, tiny_pair: str, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "COLD_TOKENS", 100)
    monkeypatch.setattr(engine, "ADVERSARIAL_TOKENS", 4)
    monkeypatch.setattr(passes, "CONTEXT", 64)
    (tmp_path / "a.py").write_text("def add(left, right):\n    return left\n\n" * 10)
    arguments = ["--pair", tiny_pair, "--files", "*.py", "--peer", "transformers", "--tokens", "8"]
    code = main([*arguments, "--cold", "1", "--adversarial", "2", "--passes", "2", "--json"])
    assert code == 0
    result = json.loads(capsys.readouterr().out)
    wanted = {"pass_ms", "tokens_per_s", "tokens_per_s_target_only", "warm_ttft_ms", "cold_ttft_ms", "peers", "ratios"}
    assert wanted <= result.keys()
    assert result["differing_texts"] == 0
    theirs, ratios = result["peers"]["transformers"], result["ratios"]["transformers"]
    assert ratios["tokens_per_s"] == pytest.approx(result["tokens_per_s"] / theirs["tokens_per_s"], rel=0.01)
    assert ratios["inside_line_ttft_ms"] > 0
    assert set(theirs["tokens_per_s_by_mode"]) == {"plain", "prompt-lookup"}
    assert result["warm_ttft_ms"] <= result["warm_first_text_ms"]
    assert result["pass_context"] == 64
    assert result["pass_ratio"]["8"] == pytest.approx(
        result["context_pass_ms"]["8"] / result["stock_pass_ms"]["8"], rel=0.01
    )
    assert result["cold_1024_ratio"] > 0
    assert result["adversarial"]["runs"] == 2 * engine.ADVERSARIAL_ROUNDS
    low, high = result["adversarial"]["interval"]
    assert low <= result["adversarial"]["tokens_per_s_ratio"] <= high
