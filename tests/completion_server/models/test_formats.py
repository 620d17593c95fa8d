"""Bytes and floors per format: the figures of a known model, and sums that can be done by hand."""

import pytest
import torch
from transformers import LlamaConfig, Qwen2Config

from completion_server.models.formats import Weights, count, line, measure_bandwidth, table

QWEN_7B = Qwen2Config(
    vocab_size=152_064,
    hidden_size=3584,
    intermediate_size=18_944,
    num_hidden_layers=28,
    num_attention_heads=28,
    num_key_value_heads=4,
    tie_word_embeddings=False,
)


def test_the_line_of_a_7b_model() -> None:
    weights = count(QWEN_7B)
    assert weights.total == 7_615_616_512
    expected = "7.6 B bfloat16: 15.2 GB, 14.1 GB read per pass, floor 3.3 ms at the measured 4.3 TB/s"
    assert line(weights, "bfloat16", 4.3e12) == expected


@pytest.mark.parametrize("tied", [False, True])
def test_a_small_model_by_hand(tied: bool) -> None:
    config = LlamaConfig(
        vocab_size=100,
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        tie_word_embeddings=tied,
    )
    weights = count(config)
    block = 8 * 8 + 2 * 8 * 4 + 8 * 8 + 3 * 8 * 16
    assert weights == Weights(linear=2 * block, embedding=800, head=0 if tied else 800, other=5 * 8)
    rest = 40 if tied else 840
    read = 2 * block + 2 * (rest + (800 if tied else 0))
    assert weights.read_bytes("int8") == read
    assert weights.held_bytes("int8") == read + (0 if tied else 1600)
    assert weights.held_bytes("float32") == 4 * weights.total


def test_a_table_has_a_line_per_format_and_none_twice() -> None:
    lines = table(LlamaConfig(num_hidden_layers=1), torch.device("cpu"), "int8", "float16", "float64")
    assert list(lines) == ["float32", "bfloat16", "int8", "float16"]
    assert all(f" {form}: " in text for form, text in lines.items())


def test_bandwidth_is_that_of_a_memory() -> None:
    assert 1e7 < measure_bandwidth(torch.device("cpu")) < 1e13
