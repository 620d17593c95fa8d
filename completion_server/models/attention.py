"""Attention over our own KV memory, registered with transformers under the name `foretype`.

The models run on one *flattened ragged batch*: the tokens of all rows behind one another in a single sequence
`[1, T]`. Linear layers see one tall matrix; here every row's new keys and values are written into its slot and its
queries attend over that slot alone. There is no cache object and no mask tensor for the whole context.

The queries of a GQA group are folded into the rows of one matrix product, `[kv_heads, group·t, d] × [kv_heads, d, S]`,
so that keys and values are never repeated. Knows nothing of models beyond what transformers hands an attention
function (`scaling`, `sliding_window`, `softcap`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from completion_server.errors import UnsupportedModel
from completion_server.kv.memory import SHORTEST_SUM, KvMemory, padded

NAME = "foretype"

# An exact product has the shapes where the matrix library adds up a row in the same order however many rows there are:
# at least so many rows, whole grains of columns, and a sum that is cut into blocks from its start. Found by trying all
# shapes with MKL; other libraries may differ, so `exactness` tries again at load.
FEWEST_ROWS = 4


@dataclass(frozen=True)
class Span:
    """One row of a batch: `count` new tokens of `slot`, at positions `start`…`start + count - 1`.

    With `exact` a token's result is the same to the bit however many tokens its span has.
    """

    slot: int
    start: int
    count: int
    device: torch.device
    exact: bool = False
    _masks: dict[tuple[int, int], Tensor] = field(default_factory=dict, compare=False, repr=False)

    @property
    def end(self) -> int:
        return self.start + self.count

    @cached_property
    def columns(self) -> int:
        """How many positions are looked at, some behind the end if `exact`; those are hidden."""
        return max(SHORTEST_SUM, padded(self.end)) if self.exact else self.end

    def seen(self, block: Tensor) -> tuple[Tensor, Tensor]:
        """Keys `[…, kv_heads, d, columns]` and values `[…, kv_heads, end, d]` in a block `[…, 2, kv_heads, n, d]`."""
        keys, values = block.unbind(-4)
        return keys[..., : self.columns, :].transpose(-1, -2), values[..., : self.end, :]

    def future(self, rows: int) -> Tensor:
        """`[rows, columns - start]`: what must not be seen of the positions from `start` on.

        The rows are those of `attend`; what was added to make them `FEWEST_ROWS` may see everything.
        """
        return self._mask(rows, self.start, lambda places, tokens: places > tokens)

    def past(self, rows: int, window: int) -> Tensor:
        """`[rows, columns]`: what lies too far back for a sliding window."""
        return self._mask(rows, -window, lambda places, tokens: places <= tokens - window)

    def _mask(self, rows: int, kind: int, hide: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        found = self._masks.get((rows, kind))
        if found is None:
            places = torch.arange(max(kind, 0), self.columns, device=self.device)
            tokens = torch.arange(self.start, self.end, device=self.device)[:, None]
            hidden = hide(places, tokens).repeat(rows // self.count, 1)
            found = self._masks[rows, kind] = nn.functional.pad(hidden, (0, 0, 0, self.added(rows)))
        return found

    def added(self, rows: int) -> int:
        """How many rows a product of `rows` needs beside them."""
        return max(0, FEWEST_ROWS - rows) if self.exact else 0


@dataclass(frozen=True, slots=True)
class RaggedBatch:
    """What the attention function needs to know about a pass; handed through the model's keyword arguments."""

    memory: KvMemory
    spans: Sequence[Span]

    def keep_states(self, hidden: Tensor) -> None:
        """Write the last hidden states `[T, hidden]` beside the keys and values, where the memory has room for them."""
        offset = 0
        for span in self.spans:
            self.memory.states(span.slot)[span.start : span.end] = hidden[offset : offset + span.count]
            offset += span.count


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
    heads, kv_heads, dim = query.shape[1], key.shape[1], query.shape[3]
    if isinstance(ragged, Probe):
        ragged.layers[layer] = (kv_heads, dim)
        return value.repeat_interleave(heads // kv_heads, dim=1).transpose(1, 2), None  # one token sees itself alone
    query = query[0] * (dim**-0.5 if scaling is None else scaling)
    outputs, offset = [], 0
    for span in ragged.spans:
        rows = slice(offset, offset + span.count)
        block = ragged.memory.block(span.slot)[layer]
        block[0, :, span.start : span.end] = key[0, :, rows]
        block[1, :, span.start : span.end] = value[0, :, rows]
        folded = query[:, rows].reshape(kv_heads, -1, dim)
        mixed = attend(folded, *span.seen(block), span, window=sliding_window, softcap=softcap)
        outputs.append(mixed.reshape(heads, span.count, dim).transpose(0, 1))
        offset = rows.stop
    output = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
    return output[None], None


def attend(
    query: Tensor, keys: Tensor, values: Tensor, span: Span, *, window: int | None = None, softcap: float | None = None
) -> Tensor:
    """Causal attention of a span's tokens over its slot, where their own keys and values are already.

    `query` `[kv_heads, group·count, d]`, scaled, the heads of a group behind one another; `keys` and `values` of one
    layer as `Span.seen` gives them. Returns the shape of `query`.
    Scores are taken to fp32 (or stay fp64) for the softmax, as the stock models do.
    """
    rows = query.shape[1]
    added = span.added(rows)
    if added:
        query = nn.functional.pad(query, (0, 0, 0, added))
    scores = torch.bmm(query, keys)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    behind = span.columns - span.start
    if behind > 1:
        scores.narrow(2, span.start, behind).masked_fill_(span.future(rows), float("-inf"))
    if window is not None and window < span.end:
        scores.masked_fill_(span.past(rows, window), float("-inf"))
    wide = torch.float64 if scores.dtype == torch.float64 else torch.float32
    weights = torch.softmax(scores, dim=-1, dtype=wide).to(values.dtype)
    # What lies behind the end has no weight and may be anything, even NaN.
    if not span.exact or span.end >= SHORTEST_SUM:
        weights = weights.narrow(2, 0, span.end)
    else:
        values = nn.functional.pad(values, (0, 0, 0, SHORTEST_SUM - span.end))
    mixed = torch.bmm(weights, values)
    return mixed.narrow(1, 0, rows) if added else mixed
