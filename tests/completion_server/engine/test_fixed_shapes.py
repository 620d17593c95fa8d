"""A whole engine on passes of fixed shape, graphs off: the same text as without, within the same budget."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from completion_server.engine import fixed_shapes
from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.engine.loading import load_engine
from completion_server.errors import SettingsError
from completion_server.kv.static_memory import StaticMemory
from completion_server.models.device import FLOAT32, INT8
from completion_server.models.static import StaticDecoder
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from completion_server.protocol import Complete, Context, EngineMessage, Limits, Result
from completion_server.settings import EngineSettings, MemoryBudget

CPU = torch.device("cpu")
TEXT = "def add(left, right):\n    return left + right\n\n" * 4


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Engine]:
    folder, tokenizer = tmp_path_factory.mktemp("models"), tiny_tokenizer()

    def save(name: str, **options: Any) -> str:
        tiny_model(tokenizer, **options).decoder.model.save_pretrained(folder / name)
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(folder / name)
        return str(folder / name)

    paths = {"target": save("target", seed=1), "draft": save("draft", seed=2, layers=1)}
    settings = {"device": "cpu", "dtype": "float64", "context_tokens": 300, "slots": 2, **paths}
    return lambda **options: load_engine(EngineSettings(**{**settings, **options}))


def ask(engine: Engine, before: str, document: str = "a.py") -> str:
    replies: list[EngineMessage] = []
    context = Context(document, 0, before, "\n", language="python")
    engine.add(Job(1, 0, Complete(1, context, Limits(24, 99)), 0.0, replies.append, on_close=lambda _: True))
    while engine.busy:
        engine.step()
    assert isinstance(replies[-1], Result)
    return replies[-1].text


def test_the_text_is_the_same_as_on_ordinary_passes(load: Callable[..., Engine]) -> None:
    """Three documents in two slots, with drafts from a model: moves, copies and roll-backs included."""
    ordinary, fixed = load(), load(static_passes="on")
    assert isinstance(fixed.pair.target, StaticDecoder)
    assert isinstance(fixed.pair.memory, StaticMemory)
    for before, document in [(TEXT, "a"), (TEXT + "x", "a"), ("y = " + TEXT, "b"), (TEXT + "xy", "a"), (TEXT, "c")]:
        assert ask(fixed, before, document) == ask(ordinary, before, document) != ""


def test_the_books_count_the_bytes_that_are_there(load: Callable[..., Engine]) -> None:
    for kv_dtype in ("auto", "int8"):
        pair = load(static_passes="on", kv_dtype=kv_dtype).pair
        assert pair.memory.slot_bytes == pair.target.slot_bytes(pair.memory.capacity)


def test_a_budget_for_two_slots_leaves_room_for_the_spare_place(load: Callable[..., Engine]) -> None:
    pair = load(static_passes="on").pair
    assert pair.draft is not None
    per_slot = pair.memory.slot_bytes + pair.draft.memory.slot_bytes
    held = load(static_passes="on", kv_budget=MemoryBudget(bytes=2 * per_slot + 1)).pair
    assert len(held.slots.slots) == 1
    assert held.draft is not None
    assert held.memory.allocated_bytes + held.draft.memory.allocated_bytes <= held.kv_budget_bytes


def test_status_says_what_the_weights_cost(load: Callable[..., Engine]) -> None:
    assert any("read per pass" in note for note in load(dtype="float32").pair.notes)


def test_when_shapes_are_fixed() -> None:
    cuda = torch.device("cuda")
    assert fixed_shapes.wanted(EngineSettings(), cuda, FLOAT32)
    assert not fixed_shapes.wanted(EngineSettings(), CPU, INT8)
    assert not fixed_shapes.wanted(EngineSettings(static_passes="off"), cuda, FLOAT32)
    assert fixed_shapes.wanted(EngineSettings(static_passes="on"), CPU, FLOAT32)
    with pytest.raises(SettingsError, match="row by row"):
        fixed_shapes.wanted(EngineSettings(static_passes="on"), CPU, INT8)
    with pytest.raises(SettingsError, match="kv_dtype"):
        fixed_shapes.wanted(EngineSettings(kv_dtype="int8"), CPU, FLOAT32)
