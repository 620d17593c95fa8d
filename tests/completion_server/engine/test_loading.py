"""From settings to an engine: folders on disk, pairs that fit and pairs that do not, devices, memory budgets."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from completion_server.engine.loading import check_vocabularies, load_engine
from completion_server.errors import (
    DeviceError,
    ForetypeError,
    ModelNotFound,
    PairMismatch,
    SettingsError,
    UnsafeModel,
    UnsupportedModel,
)
from completion_server.models import loader
from completion_server.models.loader import TokenizerFiles
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from completion_server.pairs import user_pairs_file
from completion_server.settings import EngineSettings, MemoryBudget

SETTINGS: dict[str, Any] = {"device": "cpu", "dtype": "float64", "context_tokens": 512, "slots": 2}


def save(folder: Path, tokenizer: Tokenizer, **options: Any) -> str:
    """Write a tiny model as an ordinary folder."""
    loaded = tiny_model(tokenizer, **options)
    loaded.decoder.model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(folder)
    return str(folder)


def test_a_folder_with_a_draft_of_another_padded_width(tmp_path: Path) -> None:
    """seq-vocab: the padding behind the vocabularies may differ."""
    tokenizer = tiny_tokenizer()
    target = save(tmp_path / "target", tokenizer, seed=1, padded_to=384)
    draft = save(tmp_path / "draft", tokenizer, seed=2, padded_to=512, layers=1)
    steps: list[tuple[str, float]] = []
    engine = load_engine(
        EngineSettings(target=target, draft=draft, **SETTINGS), lambda text, done: steps.append((text, done))
    )
    assert engine.pair.drafters == ("tail", "n-gram", "model")
    assert engine.pair.vocab_size == tokenizer.get_vocab_size()
    assert engine.pair.slots.used == 0  # the rehearsal leaves nothing behind
    assert engine.snapshot().completed == 0
    assert [done for _, done in steps] == sorted(done for _, done in steps)
    assert "float64" in engine.description


@pytest.mark.parametrize("seeded", [True, False])
def test_the_seeded_middle_is_a_setting_of_the_pair(tmp_path: Path, seeded: bool) -> None:
    target = save(tmp_path / "target", tiny_tokenizer(fim=True))
    file = user_pairs_file()
    file.parent.mkdir(parents=True)
    file.write_text(f'[[pair]]\nname = "mine"\ntarget = "{target}"\nseeded = {str(seeded).lower()}\n')
    family = load_engine(EngineSettings(pair="mine", **SETTINGS)).pair.layout.family
    assert (family.name, family.seeded) == ("qwen", seeded)


def test_a_draft_with_another_tokenizer_is_refused_in_one_line(tmp_path: Path) -> None:
    """seq-vocab: a truly different tokenizer."""
    target = save(tmp_path / "target", tiny_tokenizer())
    draft = save(tmp_path / "draft", tiny_tokenizer(text="select name from people where age > 3;\n"))
    with pytest.raises(PairMismatch, match="tokenizer is not the target's") as caught:
        load_engine(EngineSettings(target=target, draft=draft, **SETTINGS))
    assert "\n" not in str(caught.value)


def test_a_smaller_vocabulary_may_draft_for_a_larger_one_of_the_same_ids() -> None:
    def files(tokenizer: Tokenizer) -> TokenizerFiles:
        return TokenizerFiles(tokenizer.to_str(), tokenizer.get_vocab_size(), None, frozenset())

    small, large = tiny_tokenizer(merges=32), tiny_tokenizer(merges=64)
    check_vocabularies(files(large), files(small))
    with pytest.raises(PairMismatch):
        check_vocabularies(files(small), files(large))


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = Path(save(tmp_path / "model", tiny_tokenizer()))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UnsafeModel, match="safetensors"):
        load_engine(EngineSettings(target=str(folder), **SETTINGS))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_gpu_is_a_clear_error(tmp_path: Path) -> None:
    target = save(tmp_path / "target", tiny_tokenizer())
    with pytest.raises(DeviceError, match="no GPU"):
        load_engine(EngineSettings(target=target, **{**SETTINGS, "device": "cuda"}))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        load_engine(EngineSettings(target=str(tmp_path / "nothing"), **SETTINGS))


def test_damaged_weights_are_an_error_of_ours(tmp_path: Path) -> None:
    folder = Path(save(tmp_path / "model", tiny_tokenizer()))
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ForetypeError):
        load_engine(EngineSettings(target=str(folder), **SETTINGS))


def test_a_model_that_lacks_weights_is_refused(tmp_path: Path) -> None:
    folder = Path(save(tmp_path / "model", tiny_tokenizer()))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    with pytest.raises(UnsupportedModel, match="lacks 9 of the weights"):
        load_engine(EngineSettings(target=str(folder), **SETTINGS))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tokenizer.json", "[]"),
        ("config.json", "[1]"),
        ("config.json", '{"model_type": "llama", "num_attention_heads": 0}'),
        ("config.json", '{"model_type": "llama", "vocab_size": -5}'),
    ],
)
def test_files_that_make_no_sense_are_an_error_of_ours(tmp_path: Path, name: str, text: str) -> None:
    folder = Path(save(tmp_path / "model", tiny_tokenizer()))
    (folder / name).write_text(text)
    with pytest.raises(UnsupportedModel) as caught:
        load_engine(EngineSettings(target=str(folder), **SETTINGS))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[1]", '{"eos_token_id": [[1]]}', '{"eos_token_id": "x"}'])
def test_a_generation_config_that_makes_no_sense_ends_nothing(tmp_path: Path, text: str) -> None:
    folder = Path(save(tmp_path / "model", tiny_tokenizer()))
    (folder / "generation_config.json").write_text(text)
    assert loader._generation_eos(folder) == set()


def test_the_memory_budget_decides_how_many_slots_there_are(tmp_path: Path) -> None:
    target = save(tmp_path / "target", tiny_tokenizer())
    per_slot = 2 * 2 * 2 * 12 * 8 * 576  # keys and values, layers, heads, dimension, bytes, padded positions
    settings = {**SETTINGS, "slots": 5, "kv_budget": MemoryBudget(bytes=3 * per_slot)}
    assert len(load_engine(EngineSettings(target=target, **settings)).pair.slots.slots) == 3
    settings["kv_budget"] = MemoryBudget(bytes=per_slot - 1)
    with pytest.raises(SettingsError, match="raise kv_budget or lower context_tokens"):
        load_engine(EngineSettings(target=target, **settings))


def test_drafting_can_be_switched_off_for_a_whole_engine(tmp_path: Path) -> None:
    from speculative import FixedPolicy

    target = save(tmp_path / "target", tiny_tokenizer())
    assert load_engine(EngineSettings(target=target, drafting=False, **SETTINGS)).pair.policy == FixedPolicy(0)


@pytest.mark.usefixtures("embedded_model")
def test_the_embedded_model_loads_and_continues_python() -> None:
    engine = load_engine(EngineSettings(pair="embedded", context_tokens=512, slots=1, threads=1))
    assert engine.pair.vocab_size == 49_152
    assert engine.pair.layout.family.name == "below-first"
    assert 0 in engine.pair.layout.stop_ids
