"""The teacher must say what the stock model says."""

from pathlib import Path

import pytest
import torch
from transformers import Gemma2Config, Gemma2ForCausalLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from completion_server.errors import UnsupportedModel
from completion_server.models.teacher import Teacher

CPU = torch.device("cpu")
SIZES = {
    "vocab_size": 90,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
PROMPTS = torch.arange(24).view(3, 8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("target")
    LlamaForCausalLM(LlamaConfig(**SIZES, initializer_range=0.3)).double().save_pretrained(folder)
    return folder


def test_it_writes_and_thinks_what_the_stock_model_does(folder: Path) -> None:
    teacher = Teacher(folder, CPU, torch.float64)
    stock = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
    tokens, states = teacher.continue_(PROMPTS, 5, torch.zeros(3), torch.Generator())
    assert torch.equal(tokens[:, :8], PROMPTS)
    with torch.inference_mode():
        expected = stock.model(tokens, use_cache=False).last_hidden_state
        following = stock(tokens, use_cache=False).logits.argmax(-1)
    torch.testing.assert_close(states, expected, rtol=1e-4, atol=1e-5)  # the stock norm is in fp32
    assert torch.equal(tokens[:, 8:], following[:, 7:-1])


def test_what_the_last_mlp_reads_leads_to_the_states(folder: Path) -> None:
    teacher = Teacher(folder, CPU, torch.float64)
    _, states = teacher.continue_(PROMPTS, 0, torch.zeros(3), torch.Generator())
    inputs = teacher.last_mlp_inputs(PROMPTS)

    def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, teacher.shape.norm_eps)

    mlp = teacher.last_mlp
    inner = norm(inputs, mlp.norm)
    out = inputs + (torch.nn.functional.silu(inner @ mlp.gate.T) * (inner @ mlp.up.T)) @ mlp.down.T
    torch.testing.assert_close(norm(out, teacher.final_norm), states, rtol=1e-4, atol=1e-5)


def test_rows_with_a_temperature_are_drawn_from_the_generator_alone(folder: Path) -> None:
    teacher = Teacher(folder, CPU, torch.float64)
    temperatures = torch.tensor([0.0, 2.0, 0.0])
    once, again, other = (
        teacher.continue_(PROMPTS, 6, temperatures, torch.Generator().manual_seed(seed))[0] for seed in (1, 1, 2)
    )
    assert torch.equal(once, again)
    assert torch.equal(once[[0, 2]], other[[0, 2]])
    assert not torch.equal(once[1], other[1])


def test_models_that_are_built_otherwise_are_refused(tmp_path: Path) -> None:
    config = GPT2Config(vocab_size=90, n_embd=32, n_layer=1, n_head=2, bos_token_id=None, eos_token_id=None)
    GPT2LMHeadModel(config).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedModel, match="not built as Llama"):
        Teacher(tmp_path, CPU, torch.float32)


def test_models_that_change_their_logits_afterwards_are_refused(tmp_path: Path) -> None:
    config = Gemma2Config(**SIZES, head_dim=8, final_logit_softcapping=0.5, initializer_range=0.3)
    Gemma2ForCausalLM(config).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedModel):
        Teacher(tmp_path, CPU, torch.float32)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModel, match="cannot load"):
        Teacher(tmp_path, CPU, torch.float32)
