"""`--draft` with the folder of a distilled draft."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from transformers import PreTrainedTokenizerFast

from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.engine.loading import load_engine
from completion_server.errors import PairMismatch
from completion_server.models import vocabulary
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from completion_server.protocol import Complete, Context, EngineMessage, Limits, Result
from completion_server.settings import EngineSettings
from speculative.distill import Shape, StateDraft, artefact


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Engine]:
    target, draft = tmp_path_factory.mktemp("target"), tmp_path_factory.mktemp("draft")
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer, seed=1).decoder.model.save_pretrained(target)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(target)
    torch.manual_seed(0)
    module = StateDraft(Shape(hidden=48, intermediate=96, norm_eps=1e-6), blocks=1)
    save_file(artefact.tensors(module), draft / "model.safetensors")
    ids = torch.arange(5, 105)
    vocabulary.write(draft, ids)
    (draft / "config.json").write_text(json.dumps(artefact.configuration(module, len(ids), "a tiny target", (0.5,))))
    settings: dict[str, Any] = {"device": "cpu", "dtype": "float64", "context_tokens": 300, "slots": 2}
    folders = {"target": str(target), "draft": str(draft)}
    return lambda **options: load_engine(EngineSettings(**{**settings, **folders, **options}))


def ask(engine: Engine) -> Result:
    replies: list[EngineMessage] = []
    context = Context("a.py", 0, "def add(left, right):\n    return", "\n", language="python")
    engine.add(Job(1, 0, Complete(1, context, Limits(24, 99)), 0.0, replies.append, on_close=lambda _: True))
    while engine.busy:
        engine.step()
    assert isinstance(replies[-1], Result)
    return replies[-1]


def test_it_drafts_and_changes_nothing(load: Callable[..., Engine]) -> None:
    with_draft, without = load(), load(draft="n-gram")
    assert with_draft.pair.drafters == ("tail", "n-gram", "model")
    assert with_draft.pair.costs.draft("model", 1) > 0
    assert ask(with_draft).text == ask(without).text != ""


def test_states_count_as_memory(load: Callable[..., Engine]) -> None:
    pair, plain = load().pair, load(draft="n-gram").pair
    keys_and_values = pair.memory.shape.position_bytes(torch.float64)
    assert pair.memory.slot_bytes * keys_and_values == plain.memory.slot_bytes * (keys_and_values + 48 * 8)


def test_in_passes_of_fixed_shape_it_is_left_out_and_that_is_said(load: Callable[..., Engine]) -> None:
    engine = load(static_passes="on")
    assert engine.pair.draft is None
    assert engine.pair.drafters == ("tail", "n-gram")
    assert any("left out" in note for note in engine.snapshot().notes)
    assert ask(engine).text != ""


def test_a_draft_of_another_target_is_one_clear_error(load: Callable[..., Engine], tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer, hidden=64).decoder.model.save_pretrained(tmp_path)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(tmp_path)
    with pytest.raises(PairMismatch, match="choose that target"):
        load(target=str(tmp_path))
