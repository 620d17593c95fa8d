"""Compiled blocks compute what the blocks do, and all layers share what was compiled for one."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters

from completion_server.models.compiled import blocks, compiled
from completion_server.models.decoder import Feed
from completion_server.models.pieces import Plan
from completion_server.models.static import StaticDecoder
from completion_server.models.tiny import tiny_model

PLAN = Plan(narrow=(4,), wide=(16,), rows=(1,), first_bucket=64)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    counters.clear()
    yield
    torch._dynamo.reset()


def logits(decoder: StaticDecoder) -> Tensor:
    memory = decoder.memory(1, 64)
    tokens = [(5 * i + 1) % 200 for i in range(40)]
    return torch.cat(decoder.forward(memory, [Feed(0, 0, tokens, 4)]))


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
def test_the_logits_are_the_same(architecture: str) -> None:
    decoder = StaticDecoder(tiny_model(architecture=architecture).decoder.model, PLAN)
    expected = logits(decoder)
    with compiled(decoder.model, backend="eager"):  # what torch traces, without the minutes of a code generator
        torch.testing.assert_close(logits(decoder), expected, atol=1e-12, rtol=0)
        assert counters["frames"]["ok"] > 0
    before = counters["frames"]["total"]
    assert torch.equal(logits(decoder), expected)
    assert counters["frames"]["total"] == before, "it still compiles"


def test_more_layers_compile_nothing_more() -> None:
    frames = []
    for layers in (2, 6):
        torch._dynamo.reset()
        counters.clear()
        decoder = StaticDecoder(tiny_model(layers=layers).decoder.model, PLAN)
        with compiled(decoder.model, backend="eager"):
            logits(decoder)
        frames.append(counters["frames"]["ok"])
    assert frames[0] == frames[1]


def test_blocks_are_the_layers() -> None:
    assert len(blocks(tiny_model(layers=5).decoder.model)) == 5
