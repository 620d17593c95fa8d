"""The pure parts of `bench.engine`, and one run over a tiny model on disk."""

import json
import os
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from bench import engine
from bench.engine import _agreement, _head, main
from bench.peers import Clock, make_peer
from completion_server.errors import SettingsError
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from completion_server.settings import EngineSettings


def test_agreement_by_hand():
    assert _agreement([1, 2, 3, 4], [1, 9, 3]) == 0.5
    assert _agreement([], []) == 0.0


def test_prompts_are_whole_lines(monkeypatch):
    monkeypatch.setattr(engine, "CHARACTERS", 6)
    assert _head("ab\ncd\nef\n") == "ab\ncd\n"


def test_a_clock_by_hand():
    clock = Clock()
    clock.add(10, 2.0)
    clock.add(20, 1.0)
    clock.warm_ttft_ms += [3.0, 1.0, 2.0]
    assert clock.summary() == {"tokens_per_s": 10.0, "warm_ttft_ms": 2.0, "cold_ttft_ms": None}


@pytest.mark.parametrize("name", ["vllm", "http://192.0.2.1:8080", "file:///etc/passwd"])
def test_peers_that_are_none_or_elsewhere_are_refused(name):
    with pytest.raises(SettingsError, match="on this machine"):
        make_peer(name, EngineSettings())


def test_a_run_over_a_tiny_pair(tmp_path: Path, monkeypatch, capsys):
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer, seed=1).decoder.model.save_pretrained(tmp_path / "model")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(tmp_path / "model")
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "foretype"
    config.mkdir(parents=True)
    (config / "pairs.toml").write_text(f'[[pair]]\nname = "tiny"\ntarget = "{tmp_path / "model"}"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "COLD_TOKENS", 100)
    (tmp_path / "a.py").write_text("def add(left, right):\n    return left\n\n" * 10)
    code = main(
        ["--pair", "tiny", "--files", "*.py", "--peer", "transformers", "--tokens", "8", "--cold", "1", "--json"]
    )
    assert code == 0
    result = json.loads(capsys.readouterr().out)
    wanted = {"pass_ms", "tokens_per_s", "tokens_per_s_target_only", "warm_ttft_ms", "cold_ttft_ms", "peers", "ratios"}
    assert wanted <= result.keys()
    assert result["differing_texts"] == 0
    theirs, ratios = result["peers"]["transformers"], result["ratios"]["transformers"]
    assert ratios["tokens_per_s"] == pytest.approx(result["tokens_per_s"] / theirs["tokens_per_s"], rel=0.01)
    assert set(theirs["tokens_per_s_by_mode"]) == {"plain", "prompt-lookup"}
