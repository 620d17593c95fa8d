"""Eight-bit weights against the layers that they replace."""

import pytest
import torch
from torch import nn

from completion_server.models.decoder import Feed
from completion_server.models.narrow_weights import Form, Fp8Linear, Int8Linear, narrow
from completion_server.models.tiny import tiny_model


def layer(bias: bool = True) -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(64, 48, bias=bias, dtype=torch.bfloat16)


@pytest.mark.parametrize(("kind", "allowed"), [(Int8Linear, 0.01), (Fp8Linear, 0.06)])
@pytest.mark.parametrize("shape", [(1, 64), (2, 5, 64)])
@pytest.mark.parametrize("bias", [False, True])
def test_close_to_the_full_layer(kind: type[nn.Module], allowed: float, shape: tuple[int, ...], bias: bool) -> None:
    full = layer(bias)
    hidden = torch.randn(*shape, dtype=torch.bfloat16, generator=torch.Generator().manual_seed(1))
    expected, found = full(hidden).float(), kind(full)(hidden).float()
    assert found.shape == expected.shape
    assert (found - expected).norm() < allowed * expected.norm()


def test_int8_by_hand() -> None:
    """Weights and activations that are whole multiples of their scales come out exactly."""
    full = nn.Linear(8, 1, bias=False)
    with torch.no_grad():
        full.weight.copy_(torch.tensor([[127.0, -64, 3, 0, 0, 0, 0, 0]]))
    hidden = torch.tensor([[127.0, 1, -2, 0, 0, 0, 0, 0]])
    torch.testing.assert_close(Int8Linear(full)(hidden), torch.tensor([[127.0 * 127 - 64 - 6]]))


@pytest.mark.parametrize("kind", [Int8Linear, Fp8Linear])
def test_rows_of_zeros_give_the_bias(kind: type[nn.Module]) -> None:
    full = layer()
    found = kind(full)(torch.zeros(3, 64, dtype=torch.bfloat16))
    torch.testing.assert_close(found, full.bias.expand(3, -1))


@pytest.mark.parametrize(("form", "allowed"), [("int8", 0.06), ("fp8", 0.2)])
def test_a_whole_model_keeps_its_output_layer_and_most_of_its_logits(form: Form, allowed: float) -> None:
    decoder = tiny_model(dtype=torch.float32).decoder
    tokens = [(5 * i + 1) % 200 for i in range(20)]
    (expected,) = decoder.forward(decoder.memory(1, 32), [Feed(0, 0, tokens, 20)])
    head = decoder.model.get_output_embeddings()
    narrow(decoder.model, form, head)
    assert isinstance(decoder.model.get_output_embeddings(), nn.Linear)
    assert sum(isinstance(module, nn.Linear) for module in decoder.model.modules()) == 1
    (found,) = decoder.forward(decoder.memory(1, 32), [Feed(0, 0, tokens, 20)])
    assert (found - expected).norm() < allowed * expected.norm()
