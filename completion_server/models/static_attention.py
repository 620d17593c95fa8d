"""Attention of a pass of fixed shape, registered with transformers under the name `foretype-static`.

All rows are equally wide and read equally many positions; what a token may see is decided by numbers on the device, so
that the same kernels serve every length up to the bucket and a CUDA graph can replay them. As in `attention`, the
queries of a GQA group are folded into the rows of one matrix product. Everything but a `StaticBatch` goes to
`attention`. Knows nothing of models beyond what transformers hands an attention function.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from completion_server.errors import UnsupportedModel
from completion_server.kv.static_memory import GRAIN, StaticMemory
from completion_server.models import attention

NAME = "foretype-static"
FEW_TILES = 64  # tiles of 128 query rows; a GPU has about twice as many processors


@dataclass(slots=True)
class StaticBatch:
    """What attention needs to know about a pass: `rows` rows that read the first `bucket` cells of their places.

    `positions` and `cells` are int64 `[T]` on the device: where a token stands in its row, and which cell it writes.
    Padding stands at position 0 and writes to scratch.
    """

    memory: StaticMemory
    rows: int
    bucket: int
    positions: Tensor
    cells: Tensor
    _bias: dict[int | None, Tensor] = field(default_factory=dict)

    def bias(self, window: int | None, dtype: torch.dtype) -> Tensor:
        """0 where a token may look and −∞ elsewhere, `[rows, 1, 1, width, bucket]`; made once for all layers."""
        if window not in self._bias:
            places = torch.arange(self.bucket, device=self.positions.device)
            seen = places <= self.positions[:, None]
            if window is not None:
                seen &= places > self.positions[:, None] - window
            bias = torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(~seen, float("-inf"))
            self._bias[window] = bias.view(self.rows, 1, 1, -1, self.bucket)
        return self._bias[window]


def register() -> None:
    """Make `foretype-static` known to transformers. Idempotent."""
    AttentionInterface.register(NAME, static_attention)


def static_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    *,
    ragged: Any = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Write `key` and `value` and attend. Shapes as for `attention.attention`, with T = rows · width."""
    if not isinstance(ragged, StaticBatch):
        options: dict[str, Any] = {"scaling": scaling, "sliding_window": sliding_window, "softcap": softcap}
        return attention.attention(module, query, key, value, mask, ragged=ragged, **options, **kwargs)
    if kwargs.get("s_aux") is not None:
        raise UnsupportedModel("attention sinks cannot run in passes of fixed shape; use another model")
    memory, rows = ragged.memory, ragged.rows
    layer = int(module.layer_idx)  # type: ignore[arg-type]
    memory.write(layer, ragged.cells, key[0], value[0])
    heads, tokens, dim = query.shape[1:]
    shape = (rows, key.shape[1], heads // key.shape[1], tokens // rows, dim)  # row, KV head, its group, token, channel
    folded = query[0].view(shape[1], shape[2], rows, shape[3], dim).permute(2, 0, 1, 3, 4)
    keys, key_scales = memory.read(layer, 0, rows, ragged.bucket)
    scores = torch.bmm(folded.reshape(rows * shape[1], -1, dim), keys.to(query.dtype).transpose(1, 2))
    if key_scales is not None:
        scores.mul_(key_scales)
    scale = dim**-0.5 if scaling is None else scaling
    if softcap is not None:
        scores = torch.tanh(scores * (scale / softcap)).mul_(softcap)
        scale = 1.0
    spread = scores.view(*shape[:4], ragged.bucket)
    torch.add(ragged.bias(sliding_window, scores.dtype), spread, alpha=scale, out=spread)
    weights = torch.softmax(scores, dim=-1)  # 16-bit types are summed up in fp32 inside
    values, value_scales = memory.read(layer, 1, rows, ragged.bucket)
    if value_scales is not None:
        weights = weights * value_scales
    mixed = _mix(weights, values.to(query.dtype))
    return mixed.view(shape).permute(0, 3, 1, 2, 4).reshape(1, tokens, heads, dim), None


def _mix(weights: Tensor, values: Tensor) -> Tensor:
    """`[B, M, S] × [B, S, d]`, summed up in parts of `GRAIN` where whole products would occupy few processors.

    The result of one product is so small that a GPU would give it to one processor, which then reads all of a head's
    values alone. Parts of a head can be read at once, as in Flash-Decoding (Dao et al., 2023).
    """
    batch, queries, length = weights.shape
    if length <= GRAIN or length % GRAIN or batch * -(-queries // 128) >= FEW_TILES or batch > 8:
        return torch.bmm(weights, values)
    parts = weights.new_empty(batch, length // GRAIN, queries, values.shape[2])
    for row in range(batch):
        split = weights[row].view(queries, -1, GRAIN).transpose(0, 1)
        torch.bmm(split, values[row].view(-1, GRAIN, values.shape[2]), out=parts[row])
    return parts.sum(dim=1)
