"""The fused network against the stock one: ragged batches over poisoned memory, and what it does not know."""

from typing import Any

import pytest
import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from completion_server.errors import UnsupportedModel
from completion_server.models import fused, loader
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.loader import fuse

COMMON: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10_000.0, "factor": 8.0, "low_freq_factor": 1.0}
LLAMA3 |= {"high_freq_factor": 4.0, "original_max_position_embeddings": 32}


def make(name: str) -> PreTrainedModel:
    torch.manual_seed(3)
    model: PreTrainedModel
    if name == "qwen2":
        model = Qwen2ForCausalLM(Qwen2Config(**COMMON))
    elif name == "mistral":
        model = MistralForCausalLM(MistralConfig(**COMMON, sliding_window=5))
    elif name == "wide heads":
        model = LlamaForCausalLM(LlamaConfig(**COMMON, head_dim=16, attention_bias=True, mlp_bias=True))
    else:
        model = LlamaForCausalLM(LlamaConfig(**COMMON, rope_parameters=LLAMA3, tie_word_embeddings=True))
    with torch.no_grad():  # as they come, gains are 1 and biases 0, which would hide that one is forgotten
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.to(torch.float64)  # type: ignore[arg-type]
    return model.eval()


@pytest.mark.parametrize("name", ["llama", "wide heads", "mistral", "qwen2"])
def test_it_computes_what_the_stock_model_does(name: str) -> None:
    model = make(name)
    assert fused.fits(model)
    first, second = torch.randint(3, 97, (40,)).tolist(), torch.randint(3, 97, (23,)).tolist()
    with torch.no_grad():
        expected = [model(torch.tensor([tokens]), use_cache=False).logits[0] for tokens in (first, second)]
    decoder = Decoder(model)
    fuse(decoder, fused.plain)
    memory = decoder.memory(slots=2, capacity=64)
    memory.poison(0, 0)
    memory.poison(1, 0)
    decoder.forward(memory, [Feed(1, 0, first[:30], 0)])
    a, b = decoder.forward(memory, [Feed(0, 0, second[:20], 20), Feed(1, 30, first[30:38], 8)])
    c, d = decoder.forward(memory, [Feed(1, 38, first[38:], 2), Feed(0, 20, second[20:], 3)])
    torch.testing.assert_close(torch.cat([b, c]), expected[0][30:], atol=1e-5, rtol=0)  # stock norms are fp32
    torch.testing.assert_close(torch.cat([a, d]), expected[1], atol=1e-5, rtol=0)


@torch.inference_mode()
@pytest.mark.parametrize("exchange", [True, False])
def test_hidden_states_are_those_before_the_output_layer(exchange: bool) -> None:
    model = make("qwen2")
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    decoder = Decoder(model)
    if exchange:
        fuse(decoder, fused.plain)
    memory = decoder.memory(slots=1, capacity=16, states=True)
    decoder.forward(memory, [Feed(0, 0, [5, 6, 7], 0)])
    (logits,) = decoder.forward(memory, [Feed(0, 3, [8, 9], 2)])
    torch.testing.assert_close(memory.states(0)[3:5].clone() @ head.weight.detach().T, logits)
    assert memory.states(0)[:3].abs().sum() > 0


def test_other_architectures_and_dtypes_are_left_alone() -> None:
    assert not fused.fits(Qwen3ForCausalLM(Qwen3Config(**COMMON, head_dim=8)))  # it norms queries and keys
    assert not fused.fits(LlamaForCausalLM(LlamaConfig(**COMMON, hidden_act="gelu")))
    assert not fused.fits(make("llama").to(torch.bfloat16))  # type: ignore[arg-type]


def test_a_part_that_is_overlooked_is_found_at_load(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = Decoder(make("llama"))
    monkeypatch.setattr(loader.fused.FusedNetwork, "_norm", lambda _self, hidden, _gain: hidden)
    with pytest.raises(UnsupportedModel, match="other logits"):
        fuse(decoder, fused.plain)
