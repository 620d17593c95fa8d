"""Attention over our own KV memory, registered with transformers under the name `foretype`.

The models run on one *flattened ragged batch*: the tokens of all rows behind one another in a single sequence
`[1, T]`. Linear layers see one tall matrix; here every row's new keys and values are written into its slot and its
queries attend over that slot alone. There is no cache object and no mask tensor for the whole context.

The queries of a GQA group are folded into the rows of one matrix product, `[kv_heads, group·t, d] × [kv_heads, d, S]`,
so that keys and values are never repeated. Knows nothing of models beyond what transformers hands an attention
function (`scaling`, `sliding_window`, `softcap`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from completion_server.errors import UnsupportedModel
from completion_server.kv.memory import KvMemory

NAME = "foretype"


@dataclass(frozen=True, slots=True)
class Span:
    """One row of a batch: `count` new tokens of `slot`, at positions `start`…`start + count - 1`.

    `alone`: so many of the last tokens attend one by one, see `Decoder.exact_rows`.
    """

    slot: int
    start: int
    count: int
    alone: int = 0


@dataclass(frozen=True, slots=True)
class RaggedBatch:
    """What the attention function needs to know about a pass; handed through the model's keyword arguments."""

    memory: KvMemory
    spans: Sequence[Span]


@dataclass(slots=True)
class Probe:
    """Stands in for a `RaggedBatch` in a one-token pass that finds out what every layer hands to attention."""

    layers: dict[int, tuple[int, int]] = field(default_factory=dict)  # layer → (kv_heads, head_dim)


def register() -> None:
    """Make `foretype` known to transformers. Idempotent.

    No mask function is registered beside it: a registered one would run packed-sequence detection on every pass.
    """
    AttentionInterface.register(NAME, attention)


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Tensor | None,
    *,
    ragged: RaggedBatch | Probe | None = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Write `key` and `value` into the rows' slots and attend over them.

    Shapes: `query` `[1, heads, T, d]`; `key`, `value` `[1, kv_heads, T, d]`; returns `[1, T, heads, d]`.
    Raises UnsupportedModel for what this function would compute wrongly (attention sinks, a call without `ragged`).
    """
    if ragged is None or kwargs.get("s_aux") is not None:
        raise UnsupportedModel("this model's attention cannot run on Foretype's KV memory; use another model")
    layer = int(module.layer_idx)  # type: ignore[arg-type]
    if isinstance(ragged, Probe):
        ragged.layers[layer] = (key.shape[1], key.shape[3])
        group = query.shape[1] // key.shape[1]
        return value.repeat_interleave(group, dim=1).transpose(1, 2), None  # one token attends to itself alone
    scale = query.shape[3] ** -0.5 if scaling is None else scaling
    outputs, offset = [], 0
    for span in ragged.spans:
        rows = slice(offset, offset + span.count)
        keys, values = ragged.memory.block(span.slot)[layer]
        end = span.start + span.count
        keys[:, span.start : end] = key[0, :, rows]
        values[:, span.start : end] = value[0, :, rows]
        queries = query[0, :, rows]
        together = span.count - span.alone
        if together:
            stop = span.start + together
            seen = (keys[:, :stop], values[:, :stop])
            outputs.append(_attend(queries[:, :together], *seen, scale, sliding_window, softcap))
        for i in range(together, span.count):
            stop = span.start + i + 1
            seen = (keys[:, :stop], values[:, :stop])
            outputs.append(_attend(queries[:, i : i + 1], *seen, scale, sliding_window, softcap))
        offset = rows.stop
    output = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
    return output[None], None


def _attend(
    query: Tensor, keys: Tensor, values: Tensor, scale: float, window: int | None, softcap: float | None
) -> Tensor:
    """Causal attention of the last `t` positions. `query` `[heads, t, d]`, `keys`, `values` `[kv_heads, S, d]`.

    Returns `[t, heads, d]`. Scores are taken to fp32 (or stay fp64) for the softmax, as the stock models do.
    """
    heads, count, dim = query.shape
    kv_heads, length, _ = keys.shape
    group = heads // kv_heads
    folded = query.reshape(kv_heads, group * count, dim)
    scores = torch.bmm(folded, keys.transpose(1, 2)).mul_(scale)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    shaped = scores.view(kv_heads, group, count, length)
    if count > 1:  # only the last `count` columns can lie in the future of a query
        future = torch.ones(count, count, dtype=torch.bool, device=query.device).triu_(1)
        shaped[..., length - count :].masked_fill_(future, float("-inf"))
    if window is not None and window < length:
        positions = torch.arange(length, device=query.device)
        too_old = positions[None, :] <= positions[length - count :, None] - window
        shaped.masked_fill_(too_old, float("-inf"))
    wide = torch.float64 if scores.dtype == torch.float64 else torch.float32
    weights = torch.softmax(scores, dim=-1, dtype=wide).to(values.dtype)
    mixed = torch.bmm(weights, values).view(kv_heads, group, count, dim)
    return mixed.permute(2, 0, 1, 3).reshape(count, heads, dim)
