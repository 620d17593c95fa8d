"""The trial at load: it must see a difference of one bit."""

import torch
from torch import Tensor

from completion_server.models import exactness
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.fused import FusedNetwork
from completion_server.models.int8 import Int8Matrix
from completion_server.models.tiny import tiny_model


def int8_decoder() -> Decoder:
    decoder = tiny_model(dtype=torch.float32, hidden=64).decoder
    decoder.network = FusedNetwork(decoder.model, Int8Matrix)
    decoder.exact_rows = True
    return decoder


def test_int8_with_exact_attention_agrees() -> None:
    assert exactness.rows_agree(int8_decoder())


def test_a_network_that_sees_the_width_is_found_out() -> None:
    decoder = int8_decoder()
    exact = decoder.network

    def nearly(tokens: Tensor, *others: object) -> Tensor:
        logits: Tensor = exact(tokens, *others)  # type: ignore[arg-type]
        return torch.nextafter(logits, logits + 1) if len(tokens) == 5 else logits

    decoder.network = nearly
    assert not exactness.rows_agree(decoder)


def test_row_by_row_needs_no_help_of_the_matrix_library() -> None:
    decoder = int8_decoder()
    decoder.exact_rows, decoder.row_by_row = False, True
    assert exactness.rows_agree(decoder)
    (short,) = decoder.forward(decoder.memory(1, 64), [Feed(0, 0, [3, 4, 5], 3)])
    assert short.shape[0] == 3
