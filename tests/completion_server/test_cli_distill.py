"""`foretype distill` from files to a folder, with a target of a hundred thousand weights."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from typer.testing import CliRunner

from completion_server.cli import build
from completion_server.models import vocabulary
from completion_server.models.tiny import END_OF_TEXT, SAMPLE, tiny_tokenizer

MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama in a folder, as one that was pulled."""
    folder = tmp_path_factory.mktemp("target")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tiny_tokenizer(), eos_token=END_OF_TEXT)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=0,
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Forty files of Python under MIT, and one under another licence."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "LICENSE").write_text(MIT)
    for number in range(40):
        text = "".join(f"# {number}.{line}\n{SAMPLE}" for line in range(12))
        (folder / f"module_{number}.py").write_text(text)
    (folder / "theirs").mkdir()
    (folder / "theirs" / "COPYING").write_text("GNU GENERAL PUBLIC LICENSE, version 3")
    (folder / "theirs" / "copied.py").write_text(SAMPLE * 20)
    return folder


def test_a_draft_with_its_card_comes_out_of_files_and_a_target(target: Path, sources: Path, tmp_path: Path) -> None:
    out = tmp_path / "draft"
    arguments = ["distill", "--target", str(target), "--data", f"{sources}/**/*.py", "--out", str(out)]
    arguments += ["--exclude", f"{sources}/module_7.py", "--windows", "24", "--vocabulary", "200", "--steps", "250"]
    arguments += ["--prompt", "400", "--continuation", "112"]
    done = CliRunner().invoke(build(), [*arguments, "--device", "cpu"])
    assert done.exit_code == 0, done.output
    assert "accepted by position" in done.output
    assert sorted(path.name for path in out.iterdir()) == [
        *("README.md", "card.json", "config.json", "model.safetensors", "vocabulary.safetensors")
    ]
    ids = vocabulary.read(out)
    assert ids is not None
    assert len(ids) == 200
    weights = load_file(out / "model.safetensors")
    assert weights["fuse.weight"].dtype == torch.int8
    assert weights["fuse.weight_scale"].shape == (48,)
    configuration = json.loads((out / "config.json").read_text())
    assert configuration["model_type"] == "foretype-state-draft"
    assert (configuration["hidden"], configuration["vocabulary"]) == (48, 200)
    card = json.loads((out / "card.json").read_text())
    assert list(card["files"]["trained_on"]) == ["MIT"], "files under the GPL are left out"
    used = [path for kind in card["files"].values() for paths in kind.values() for path in paths]
    assert not any(path.endswith("module_7.py") for path in used)
    first = card["course"][0][2][0]
    assert card["chains"][0] > first, "it accepts more than before it was trained"
    assert "MIT" in (out / "README.md").read_text()


def test_without_a_file_that_is_long_enough_it_says_so(target: Path, tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text(MIT)
    (tmp_path / "short.py").write_text("pass\n")
    arguments = ["distill", "--target", str(target), "--data", f"{tmp_path}/*.py", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(build(), [*arguments, "--device", "cpu"])
    assert done.exit_code != 0
    assert "name more with --data" in str(done.exception)
