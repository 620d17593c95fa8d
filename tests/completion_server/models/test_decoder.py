"""The wrapped models against the stock ones: every architecture that we name, ragged batches, poisoned memory."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GemmaConfig,
    GemmaForCausalLM,
    GPTBigCodeConfig,
    GPTBigCodeForCausalLM,
    GraniteConfig,
    GraniteForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    Starcoder2Config,
    Starcoder2ForCausalLM,
)

from completion_server.errors import UnsupportedModel
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.loader import wrap

VOCABULARY = 97
COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
GPT = {"vocab_size": VOCABULARY, "n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 128}
GPT |= {"bos_token_id": 1, "eos_token_id": 2}

ARCHITECTURES: dict[str, Callable[[], PreTrainedModel]] = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**COMMON)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**COMMON)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**COMMON, head_dim=8)),
    "starcoder2": lambda: Starcoder2ForCausalLM(Starcoder2Config(**COMMON, sliding_window=7)),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**COMMON, sliding_window=5)),
    "gemma": lambda: GemmaForCausalLM(GemmaConfig(**COMMON, head_dim=8)),
    "gemma2": lambda: Gemma2ForCausalLM(Gemma2Config(**COMMON, head_dim=8, sliding_window=6)),
    "granite": lambda: GraniteForCausalLM(GraniteConfig(**COMMON)),
    "gpt_bigcode": lambda: GPTBigCodeForCausalLM(GPTBigCodeConfig(**GPT)),
}


@pytest.fixture(autouse=True)
def _double_precision() -> Any:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def stock_logits(model: PreTrainedModel, tokens: list[int]) -> torch.Tensor:
    with torch.no_grad():
        logits: torch.Tensor = model(torch.tensor([tokens]), use_cache=False).logits[0]
    return logits


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_ragged_batch_over_poisoned_memory_equals_the_stock_model(name: str) -> None:
    """Two rows, fed in pieces of different length in one pass; what was never written is NaN and must not be read."""
    model = ARCHITECTURES[name]().eval()
    first = torch.randint(3, VOCABULARY, (40,)).tolist()
    second = torch.randint(3, VOCABULARY, (23,)).tolist()
    expected_first, expected_second = stock_logits(model, first), stock_logits(model, second)
    decoder = Decoder(model)
    memory = decoder.memory(slots=2, capacity=64)
    memory.poison(0, 0)
    memory.poison(1, 0)
    decoder.forward(memory, [Feed(1, 0, first[:30], 0)])
    a, b = decoder.forward(memory, [Feed(0, 0, second[:20], 20), Feed(1, 30, first[30:38], 8)])
    c, d = decoder.forward(memory, [Feed(1, 38, first[38:], 2), Feed(0, 20, second[20:], 3)])
    tolerance = 1e-6 if name == "gemma2" else 1e-12  # its stock softmax is taken in fp32
    torch.testing.assert_close(torch.cat([b, c]), expected_first[30:], atol=tolerance, rtol=0)
    torch.testing.assert_close(torch.cat([a, d]), expected_second, atol=tolerance, rtol=0)
    assert decoder.passes == 3


def test_rolling_back_needs_no_clean_up() -> None:
    model = ARCHITECTURES["llama"]().eval()
    right = [5, 6, 7, 8, 9, 10]
    expected = stock_logits(model, right)
    decoder = Decoder(model)
    memory = decoder.memory(slots=1, capacity=16)
    decoder.forward(memory, [Feed(0, 0, [5, 6, 7, 50, 51, 52, 53], 0)])  # drafts that will be rejected
    (logits,) = decoder.forward(memory, [Feed(0, 3, right[3:], 3)])
    torch.testing.assert_close(logits, expected[3:], atol=1e-12, rtol=0)


def test_keys_and_values_of_a_copied_slot_are_the_same() -> None:
    model = ARCHITECTURES["qwen2"]().eval()
    tokens = [5, 6, 7, 8, 9, 10]
    expected = stock_logits(model, tokens)
    decoder = Decoder(model)
    memory = decoder.memory(slots=2, capacity=16)
    decoder.forward(memory, [Feed(0, 0, tokens[:4], 0)])
    memory.poison(1, 0)
    memory.copy(0, 1, 4)
    (logits,) = decoder.forward(memory, [Feed(1, 4, tokens[4:], 2)])
    torch.testing.assert_close(logits, expected[4:], atol=1e-12, rtol=0)


def test_a_model_whose_attention_cannot_be_exchanged_is_refused() -> None:
    model = BloomForCausalLM(BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=1, n_head=4))
    with pytest.raises(UnsupportedModel, match="bloom"):
        Decoder(model)


def test_wrapping_compares_with_the_stock_model() -> None:
    assert wrap(ARCHITECTURES["llama"]()).kv_shape.layers == 2


def test_a_model_that_computes_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Decoder.forward
    monkeypatch.setattr(Decoder, "forward", lambda *a: [logits + 1 for logits in real(*a)])
    with pytest.raises(UnsupportedModel, match="other logits"):
        wrap(ARCHITECTURES["llama"]())


def test_positions_that_depend_on_the_batch_are_refused() -> None:
    rope = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 2.0}
    with pytest.raises(UnsupportedModel, match="dynamic"):
        wrap(LlamaForCausalLM(LlamaConfig(**COMMON, rope_parameters=rope)))
