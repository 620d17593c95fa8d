"""int8 layers: bits that do not depend on the width, and an error as small as sixteen bits of activation allow."""

import pytest
import torch
from torch import nn

from completion_server.models import int8
from completion_server.models.decoder import Feed
from completion_server.models.int8 import Group, Int8Linear, Int8Matrix, quantize
from completion_server.models.tiny import tiny_model


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_a_product_by_hand() -> None:
    layer = nn.Linear(2, 1, bias=True)
    layer.weight.data = torch.tensor([[127.0, -127.0]])  # scale 1: codes 127, -127
    layer.bias.data = torch.tensor([5.0])
    (out,) = Group([layer]).outputs(torch.tensor([[1.0, 0.5]]))  # 32639 and 16319.5 steps of 1/32639
    torch.testing.assert_close(out, torch.tensor([[127.0 - 127.0 * 16320 / 32639 + 5.0]]))


@pytest.mark.parametrize("bias", [False, True])
def test_the_error_is_that_of_the_weights_alone(bias: bool) -> None:
    layer = nn.Linear(576, 200, bias=bias)
    rows = torch.randn(5, 576)
    (out,) = Group([layer]).outputs(rows)
    rounded = layer.weight.abs().amax(dim=1, keepdim=True) / 127
    weights_alone = nn.functional.linear(rows, torch.round(layer.weight / rounded) * rounded, layer.bias)
    assert (out - weights_alone).abs().max() < 2e-4 * weights_alone.abs().max()
    assert (out - layer(rows)).abs().max() < 0.02 * weights_alone.abs().max()


@pytest.mark.parametrize("width", [2, 3, 7, 8, 16, 33, 128])
def test_a_row_does_not_depend_on_the_others(width: int) -> None:
    group = Group([nn.Linear(576, 300), nn.Linear(576, 100)])
    rows = torch.randn(width, 576) * torch.logspace(-3, 3, width)[:, None]
    together = torch.cat(group.outputs(rows), dim=-1)
    alone = torch.cat([torch.cat(group.outputs(rows[i : i + 1]), dim=-1) for i in range(width)])
    assert torch.equal(together, alone)


def test_extreme_rows() -> None:
    group = Group([nn.Linear(8, 4, bias=False)])
    rows = torch.stack([torch.zeros(8), torch.full((8,), 1e-38), torch.full((8,), 1e30)])
    (out,) = group.outputs(rows)
    assert torch.isfinite(out).all()
    assert torch.equal(out[0], torch.zeros(4))
    assert group.outputs(torch.empty(1, 0, 8))[0].shape == (1, 0, 4)


def test_layers_of_a_group_are_multiplied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = Int8Matrix.__call__
    monkeypatch.setattr(Int8Matrix, "__call__", lambda *a: calls.append(1) or real(*a))
    group = Group([nn.Linear(8, 4), nn.Linear(8, 2)])
    first, second = Int8Linear(group, 0), Int8Linear(group, 1)
    rows = torch.randn(3, 8)
    assert (first(rows).shape, second(rows).shape, len(calls)) == ((3, 4), (3, 2), 1)
    other = rows.clone()
    first(other)
    assert len(calls) == 2


def test_every_linear_layer_of_a_model_is_exchanged() -> None:
    model = tiny_model(dtype=torch.float32).decoder.model
    quantize(model)
    assert not [name for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    assert sum(isinstance(module, Int8Linear) for module in model.modules()) == 2 * 7 + 1


def test_logits_are_equal_to_the_bit_at_every_width() -> None:
    """One token at a time, or any number of them in a pass, behind a prompt that was fed in chunks."""
    decoder = tiny_model(dtype=torch.float32, hidden=64, layers=3).decoder
    quantize(decoder.model)
    decoder.exact_rows = True
    prompt = torch.randint(0, 300, (200,)).tolist()
    tokens = torch.randint(0, 300, (16,)).tolist()
    memory = decoder.memory(slots=3, capacity=256)
    for slot in range(3):
        decoder.forward(memory, [Feed(slot, 0, prompt, 0)])
    singly = torch.cat([decoder.forward(memory, [Feed(0, 200 + i, [token], 1)])[0] for i, token in enumerate(tokens)])
    for width in (2, 3, 5, 8, 16):
        for start in range(0, 16 - width + 1, 3):
            feed = Feed(1, 200 + start, tokens[start : start + width], width)
            if start:
                decoder.forward(memory, [Feed(1, 200, tokens[:start], 0)])
            assert torch.equal(decoder.forward(memory, [feed])[0], singly[start : start + width])
    with_another_row = decoder.forward(memory, [Feed(2, 200, tokens[:4], 4), Feed(1, 200, tokens, 16)])
    assert torch.equal(with_another_row[0], singly[:4])
    assert torch.equal(with_another_row[1], singly)


def test_whether_it_is_fast_is_a_plain_answer() -> None:
    assert int8.is_fast_here() in (True, False)
