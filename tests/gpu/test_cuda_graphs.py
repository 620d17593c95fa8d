"""What only a GPU can show: recorded passes equal launched ones, and bf16 bits do not depend on drafts."""

import pytest
import torch

from bench.gpu.passes import equality
from bench.gpu.rounds import Forced
from bench.gpu.shapes import TINY
from bench.gpu.stage import Stage
from completion_server.models.decoder import Feed
from completion_server.models.narrow_weights import Fp8Linear, Int8Linear
from completion_server.models.pieces import Plan

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here"),
]
PLAN = Plan(narrow=(16,), wide=(64,), rows=(1, 2), first_bucket=64)


@pytest.fixture
def stage() -> Stage:
    return Stage(TINY, torch.device("cuda"), "0.5b")


def test_a_token_has_the_same_bits_alone_and_behind_drafts(stage: Stage) -> None:
    assert equality(stage)["torch_equal"] is True


@pytest.mark.parametrize("eight_bit", [False, True])
def test_recorded_passes_equal_launched_ones(stage: Stage, eight_bit: bool) -> None:
    found = []
    for graphs in (False, True):
        decoder = stage.decoder(stage.target, PLAN, graphs=graphs, eight_bit=eight_bit)
        memory = decoder.memory(3, 200)
        decoder.prepare(memory)
        assert (decoder.graphs.recorded > 0) is graphs
        parts = decoder.forward(memory, [Feed(1, 0, stage.tokens(100), 3), Feed(2, 0, stage.tokens(20, 1), 2)])
        parts += decoder.forward(memory, [Feed(2, 20, stage.tokens(5, 2), 5), Feed(1, 100, stage.tokens(30, 3), 8)])
        found.append(torch.cat(parts))
    assert torch.equal(*found)


@pytest.mark.parametrize("drafted", [1, 7, 15])
def test_a_recorded_round_decodes_the_text_of_plain_decoding(stage: Stage, drafted: int) -> None:
    forced = Forced(stage)
    forced.toss(0.7)
    rounds = forced.rounds(drafted)
    rounds.begin(0, forced.prompt)
    text: list[int] = []
    while len(text) < len(forced.truth) - drafted - 1:
        text += rounds.round()
    assert text == forced.truth[: len(text)]


@pytest.mark.parametrize("rows", [1, 16, 64])
@pytest.mark.parametrize("kind", [Int8Linear, Fp8Linear])
def test_products_of_eight_bits_equal_those_of_the_cpu(kind: type[torch.nn.Module], rows: int) -> None:
    if kind is Fp8Linear and torch.cuda.get_device_capability() < (9, 0):
        pytest.skip("this GPU has no fp8 product with scales per row")
    layer = torch.nn.Linear(256, 128, dtype=torch.bfloat16)
    hidden = torch.randn(rows, 256, dtype=torch.bfloat16)
    expected = kind(layer)(hidden)
    found = kind(layer).cuda()(hidden.cuda()).cpu()
    torch.testing.assert_close(found, expected, atol=0.02, rtol=0.02)
