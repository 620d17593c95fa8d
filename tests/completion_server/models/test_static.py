"""Passes of fixed shape, graphs off: equal to the stock models over poisoned memory, and equal bits at one width."""

import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPTBigCodeConfig,
    GPTBigCodeForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    Starcoder2Config,
    Starcoder2ForCausalLM,
)

from completion_server.errors import UnsupportedModel
from completion_server.models import static_attention
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.pieces import Plan
from completion_server.models.static import StaticDecoder
from completion_server.models.static_pass import PassShape

VOCABULARY = 97
COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
GPT = {"vocab_size": VOCABULARY, "n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 512}
GPT |= {"bos_token_id": 1, "eos_token_id": 2}

ARCHITECTURES: dict[str, Callable[[], PreTrainedModel]] = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**COMMON)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**COMMON)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**COMMON, head_dim=8)),
    "starcoder2": lambda: Starcoder2ForCausalLM(Starcoder2Config(**COMMON, sliding_window=7)),
    "gemma2": lambda: Gemma2ForCausalLM(Gemma2Config(**COMMON, head_dim=8, sliding_window=6)),
    "gpt_bigcode": lambda: GPTBigCodeForCausalLM(GPTBigCodeConfig(**GPT)),
}
PLAN = Plan(narrow=(4,), wide=(16,), first_bucket=16)


def make(name: str, dtype: torch.dtype = torch.float64) -> PreTrainedModel:
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    try:
        return ARCHITECTURES[name]().eval()
    finally:
        torch.set_default_dtype(torch.float32)


def tokens(count: int, seed: int = 0) -> list[int]:
    choice = random.Random(seed)
    return [choice.randrange(3, VOCABULARY) for _ in range(count)]


def stock_logits(model: PreTrainedModel, ids: list[int]) -> Tensor:
    with torch.no_grad():
        logits: Tensor = model(torch.tensor([ids]), use_cache=False).logits[0]
    return logits


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("eight_bit", [False, True])
def test_rows_of_different_length_over_poisoned_memory_equal_the_stock_model(name: str, eight_bit: bool) -> None:
    model = make(name)
    first, second = tokens(40), tokens(23, seed=1)
    expected_first, expected_second = stock_logits(model, first), stock_logits(model, second)
    decoder = StaticDecoder(model, PLAN, eight_bit=eight_bit)
    memory = decoder.memory(slots=2, capacity=64)
    memory.poison(0, 0)
    memory.poison(1, 0)
    decoder.forward(memory, [Feed(1, 0, first[:30], 0)])
    a, b = decoder.forward(memory, [Feed(0, 0, second[:20], 20), Feed(1, 30, first[30:38], 8)])
    c, d = decoder.forward(memory, [Feed(1, 38, first[38:], 2), Feed(0, 20, second[20:], 3)])
    # gemma2's stock softmax is taken in fp32; eight bits of keys and values are meant to differ a little
    tolerance = 0.02 * float(expected_first.abs().max()) if eight_bit else 1e-6 if name == "gemma2" else 1e-12
    torch.testing.assert_close(torch.cat([b, c]), expected_first[30:], atol=tolerance, rtol=0)
    torch.testing.assert_close(torch.cat([a, d]), expected_second, atol=tolerance, rtol=0)


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_token_has_the_same_bits_wherever_it_stands_in_the_canonical_width(name: str, dtype: torch.dtype) -> None:
    """One token at a time, and up to eight at a time: what plain and speculative decoding do."""
    decoder = StaticDecoder(make(name, dtype), Plan(narrow=(8,), wide=(), first_bucket=16))
    text, choice = tokens(60), random.Random(1)
    alone, drafted = decoder.memory(1, 64), decoder.memory(2, 64)
    single = [decoder.forward(alone, [Feed(0, i, text[i : i + 1], 1)])[0] for i in range(60)]
    together, at = [], 0
    while at < 60:
        count = min(60 - at, choice.randint(1, 8))
        together += decoder.forward(drafted, [Feed(1, at, text[at : at + count], count)])
        at += count
    assert torch.equal(torch.cat(single), torch.cat(together))


def test_rolling_back_needs_no_clean_up() -> None:
    model = make("llama")
    right = tokens(6)
    expected = stock_logits(model, right)
    decoder = StaticDecoder(model, PLAN)
    memory = decoder.memory(slots=1, capacity=16)
    decoder.forward(memory, [Feed(0, 0, [*right[:3], 50, 51, 52, 53], 0)])  # drafts that will be rejected
    (logits,) = decoder.forward(memory, [Feed(0, 3, right[3:], 3)])
    torch.testing.assert_close(logits, expected[3:], atol=1e-12, rtol=0)


def test_more_rows_than_a_pass_takes_and_slots_out_of_order() -> None:
    model = make("qwen2")
    texts = [tokens(5 + slot, seed=slot) for slot in range(5)]
    expected = [stock_logits(model, text)[-2:] for text in texts]
    decoder = StaticDecoder(model, Plan(narrow=(2, 4), wide=(16,), rows=(1, 2), first_bucket=16))
    memory = decoder.memory(slots=5, capacity=16)
    for slot in (3, 0, 4, 1, 2):
        decoder.forward(memory, [Feed(slot, 0, texts[slot][:-2], 0)])
    order = [4, 2, 0, 3, 1]
    found = decoder.forward(memory, [Feed(slot, len(texts[slot]) - 2, texts[slot][-2:], 2) for slot in order])
    for slot, logits in zip(order, found, strict=True):
        torch.testing.assert_close(logits, expected[slot], atol=1e-12, rtol=0)


def test_long_products_are_summed_up_in_parts() -> None:
    weights, values = torch.rand(2, 7, 768, dtype=torch.float64), torch.rand(2, 768, 5, dtype=torch.float64)
    parted = static_attention._mix(weights, values)
    torch.testing.assert_close(parted, torch.bmm(weights, values), atol=1e-12, rtol=0)
    assert not torch.equal(parted, torch.bmm(weights, values)), "it was one product"


def test_every_shape_that_a_pass_can_have_is_prepared() -> None:
    decoder = StaticDecoder(make("llama"), Plan(narrow=(2, 4), wide=(16,), rows=(1, 2, 4), first_bucket=16))
    memory = decoder.memory(slots=2, capacity=40)
    shares: list[float] = []
    decoder.prepare(memory, shares.append)
    buckets = [16, 32, 64]
    expected = {PassShape(rows, width, bucket) for rows in (1, 2) for width in (2, 4) for bucket in buckets}
    expected |= {PassShape(1, 16, bucket, logits=False) for bucket in buckets}
    assert set(memory.prepared) == expected
    assert shares[-1] == 1.0
    decoder.forward(memory, [Feed(0, 0, tokens(30), 1), Feed(1, 0, tokens(3), 1)])
    assert set(memory.prepared) == expected


def test_an_ordinary_memory_gives_an_ordinary_pass() -> None:
    model = make("llama")
    text = tokens(9)
    expected = stock_logits(model, text)
    decoder = StaticDecoder(model, PLAN)
    (logits,) = decoder.forward(Decoder.memory(decoder, 1, 16), [Feed(0, 0, text, 9)])
    torch.testing.assert_close(logits, expected, atol=1e-12, rtol=0)


def test_a_model_whose_attention_cannot_be_exchanged_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="bloom"):
        StaticDecoder(BloomForCausalLM(BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=1, n_head=4)))
