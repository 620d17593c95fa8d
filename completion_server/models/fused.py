"""The arithmetic of a Llama-like model with as few operations as torch allows: how passes run on a CPU.

A narrow pass on a CPU is bound by how fast the weights come out of memory and by what each small operation costs to
start. So layers that read the same input are one matrix (`q, k, v` and `gate, up`), the scale of attention is in the
query's weights, and the rotation of position embeddings is one multiplication of complex numbers, for which the
channels of a head are put into another order when the weights are read (queries and keys alike, so their products stay
the same). Keys in memory have that order too. Knows nothing of how a matrix multiplies: `matrix` says.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from completion_server.models.attention import RaggedBatch, Span, attend
from completion_server.models.int8 import joined_bias

Matrix = Callable[[Tensor], Tensor]
MakeMatrix = Callable[[Tensor, Tensor | None], Matrix]  # from weight [out, in] and bias [out]

_ARCHITECTURES = ("llama", "mistral", "qwen2")


def fits(model: PreTrainedModel) -> bool:
    """Whether this module knows the model's arithmetic, in a dtype that has complex numbers."""
    config = model.config
    return (
        config.model_type in _ARCHITECTURES
        and getattr(config, "hidden_act", None) == "silu"
        and model.dtype in (torch.float32, torch.float64)
    )


def plain(weight: Tensor, bias: Tensor | None) -> Matrix:
    """A matrix in the weights' own dtype."""
    return lambda rows: nn.functional.linear(rows, weight, bias)


@dataclass(frozen=True, slots=True)
class _Layer:
    attention_gain: Tensor
    queries_keys_values: Matrix
    output: Matrix
    window: int | None
    mlp_gain: Tensor
    gate_up: Matrix
    down: Matrix


@dataclass(frozen=True, slots=True)
class _Row:
    """A span and what it sees, layer by layer: views that are cheaper to make for all layers at once.

    `fresh` `[2 · kv_heads, count, d]` is where its new keys and values go.
    """

    span: Span
    keys: Sequence[Tensor]
    values: Sequence[Tensor]
    fresh: Sequence[Tensor]


class FusedNetwork:
    """A `Network` that computes what `model` does. Check `fits` first. Takes copies of the weights, not the modules."""

    def __init__(self, model: PreTrainedModel, matrix: MakeMatrix = plain) -> None:
        config: Any = model.config
        body: Any = model.base_model
        self._heads = int(config.num_attention_heads)
        self._kv_heads = int(config.num_key_value_heads)
        self._dim = int(getattr(config, "head_dim", None) or config.hidden_size // self._heads)
        self._epsilon = float(config.rms_norm_eps) * config.hidden_size
        self._embedding: Tensor = body.embed_tokens.weight.detach()
        self._rotation = self._rotations(body, int(config.max_position_embeddings))
        self._layers = [self._layer(layer, matrix) for layer in body.layers]
        self._gain = _gain(body.norm)
        head: Any = model.get_output_embeddings()  # type: ignore[no-untyped-call]
        self._head = matrix(head.weight.detach(), joined_bias([head]))

    def __call__(self, tokens: Tensor, positions: Tensor, wanted: Tensor, batch: RaggedBatch) -> Tensor:
        hidden = nn.functional.embedding(tokens, self._embedding)
        rotation = self._rotation[positions][:, None]
        rows = _rows(batch)
        for number, layer in enumerate(self._layers):
            joined = layer.queries_keys_values(self._norm(hidden, layer.attention_gain))
            hidden.add_(layer.output(self._attention(joined, rotation, rows, number, layer.window)))
            gate, up = layer.gate_up(self._norm(hidden, layer.mlp_gain)).chunk(2, dim=1)
            hidden.add_(layer.down(nn.functional.silu(gate).mul_(up)))
        if batch.memory.state_width:
            hidden = self._norm(hidden, self._gain)
            batch.keep_states(hidden)
            return self._head(hidden[wanted])
        return self._head(self._norm(hidden[wanted], self._gain))

    def _attention(
        self, joined: Tensor, rotation: Tensor, rows: "Sequence[_Row]", layer: int, window: int | None
    ) -> Tensor:
        """`joined` `[T, (heads + 2 · kv_heads) · d]` → `[T, heads · d]`; writes keys and values into the memory."""
        count, dim = len(joined), self._dim
        heads = joined.view(count, -1, dim)
        rotated = joined.view(count, -1, dim // 2, 2)[:, : self._heads + self._kv_heads]
        torch.view_as_complex(rotated).mul_(rotation)
        parts = [row.span.count for row in rows]
        outputs = []
        for row, part in zip(rows, torch.split(heads, parts), strict=True):
            query, fresh = torch.split(part.transpose(0, 1), [self._heads, 2 * self._kv_heads])
            row.fresh[layer].copy_(fresh)
            folded = query.reshape(self._kv_heads, -1, dim)
            mixed = attend(folded, row.keys[layer], row.values[layer], row.span, window=window)
            outputs.append(mixed.reshape(self._heads, -1, dim).transpose(0, 1).reshape(row.span.count, -1))
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs)

    def _norm(self, hidden: Tensor, gain: Tensor) -> Tensor:
        """`rms_norm` with half the operations: √n is in the gain and n in the epsilon, for n channels."""
        scale = torch.linalg.vector_norm(hidden, dim=1, keepdim=True).square_().add_(self._epsilon).rsqrt_()
        normed: Tensor = (hidden * scale).mul_(gain)
        return normed

    def _rotations(self, body: Any, positions: int) -> Tensor:
        """`[positions, d / 2]`, complex: what a pair of channels is multiplied by at each position."""
        every = torch.arange(positions, device=self._embedding.device)[None]
        cos, sin = body.rotary_emb(self._embedding, every)
        half = self._dim // 2
        return torch.complex(cos[0, :, :half].contiguous(), sin[0, :, :half].contiguous())

    def _layer(self, layer: Any, matrix: MakeMatrix) -> _Layer:
        attention, mlp = layer.self_attn, layer.mlp
        projections = [attention.q_proj, attention.k_proj, attention.v_proj]
        weight = torch.cat([projection.weight.detach() for projection in projections])
        bias = joined_bias(projections)
        order = self._order(weight.device)
        weight, bias = self._scaled(weight[order]), None if bias is None else self._scaled(bias[order])
        gate_up = [mlp.gate_proj, mlp.up_proj]
        return _Layer(
            attention_gain=_gain(layer.input_layernorm),
            queries_keys_values=matrix(weight, bias),
            output=matrix(attention.o_proj.weight.detach(), joined_bias([attention.o_proj])),
            window=_window(attention),
            mlp_gain=_gain(layer.post_attention_layernorm),
            gate_up=matrix(torch.cat([part.weight.detach() for part in gate_up]), joined_bias(gate_up)),
            down=matrix(mlp.down_proj.weight.detach(), joined_bias([mlp.down_proj])),
        )

    def _order(self, device: torch.device) -> Tensor:
        """Rows of the joined weight, so that the two channels that rotate together lie side by side."""
        rows = torch.arange((self._heads + 2 * self._kv_heads) * self._dim, device=device)
        rotated = (self._heads + self._kv_heads) * self._dim
        rows[:rotated] = rows[:rotated].view(-1, 2, self._dim // 2).transpose(1, 2).reshape(-1)
        return rows

    def _scaled(self, rows: Tensor) -> Tensor:
        """The queries' rows times the scale of attention."""
        rows = rows.clone()
        rows[: self._heads * self._dim] *= self._dim**-0.5
        return rows


def _gain(norm: Any) -> Tensor:
    gain: Tensor = norm.weight.detach() * len(norm.weight) ** 0.5
    return gain


def _rows(batch: RaggedBatch) -> list[_Row]:
    rows = []
    for span in batch.spans:
        block = batch.memory.block(span.slot)
        keys, values = span.seen(block)
        fresh = block.flatten(1, 2)[:, :, span.start : span.end]
        rows.append(_Row(span, keys.unbind(), values.unbind(), fresh.unbind()))
    return rows


def _window(attention: Any) -> int | None:
    """The sliding window of one layer: Qwen2 says it layer by layer, Mistral for all."""
    holder = attention if hasattr(attention, "sliding_window") else attention.config
    window: int | None = getattr(holder, "sliding_window", None)
    return window
