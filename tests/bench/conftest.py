"""A tiny pair on disk, for benches that load one by name."""

import os
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from completion_server.models.tiny import tiny_model, tiny_tokenizer


@pytest.fixture
def tiny_pair(tmp_path: Path) -> str:
    """The name of a pair whose target is a random model in `tmp_path`."""
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer, seed=1).decoder.model.save_pretrained(tmp_path / "model")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(tmp_path / "model")
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "foretype"
    config.mkdir(parents=True)
    (config / "pairs.toml").write_text(f'[[pair]]\nname = "tiny"\ntarget = "{tmp_path / "model"}"\n')
    return "tiny"
