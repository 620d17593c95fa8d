"""A transformers decoder whose keys and values live in our memory: one pass over a ragged batch of rows.

Knows nothing of requests, text or drafting; `engine` decides what to feed.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from completion_server.errors import UnsupportedModel
from completion_server.kv.memory import KvMemory, KvShape, allocated
from completion_server.models import attention
from completion_server.models.attention import Probe, RaggedBatch, Span
from completion_server.models.threads import ThreadChoice

SHORT = 32  # tokens; a longer feed is a chunk of a prompt


@dataclass(frozen=True, slots=True)
class Feed:
    """What one row puts into a pass: `tokens` at positions `start`… of `slot`; logits of the last `logits` of them."""

    slot: int
    start: int
    tokens: Sequence[int]
    logits: int


class Network(Protocol):
    """The arithmetic of a pass."""

    def __call__(self, tokens: Tensor, positions: Tensor, wanted: Tensor, batch: RaggedBatch) -> Tensor:
        """Logits `[wanted, width]` of the tokens at the indices `wanted`; `tokens` and `positions` are int64 `[T]`.

        Keys and values of every token go into the batch's memory, and its last hidden state if the memory keeps it.
        """


class StockNetwork:
    """The model as transformers has it; only its attention function is exchanged."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        # Behind the last norm and before the output layer, which is run for few tokens only.
        model.base_model.register_forward_hook(_keep_states, with_kwargs=True)

    def __call__(self, tokens: Tensor, positions: Tensor, wanted: Tensor, batch: RaggedBatch) -> Tensor:
        output = self._model(
            input_ids=tokens[None], position_ids=positions[None], use_cache=False, logits_to_keep=wanted, ragged=batch
        )
        logits: Tensor = output.logits[0]
        return logits


class Decoder:
    """A causal language model over `KvMemory`.

    With `exact_rows` the logits of a token are the same to the bit however many tokens share its pass, if the
    network's linear layers are (`int8`) and the matrix library plays along (`exactness`). With `row_by_row` the tokens
    of narrow feeds attend one by one, which gives the same without the library's help and is slower.
    Raises UnsupportedModel where transformers did not take our attention (Bloom, MPT) or the layers differ in shape.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        attention.register()
        model.set_attn_implementation(attention.NAME)
        if model.config._attn_implementation != attention.NAME:
            raise UnsupportedModel(f"{model.config.model_type} models do not let their attention be exchanged")
        model.eval()  # type: ignore[no-untyped-call]
        self.model = model
        self.network: Network = StockNetwork(model)
        self.device = model.device
        self.dtype = model.dtype  # of activations, keys and values
        self.arithmetic = str(model.dtype).removeprefix("torch.")
        self.kv_shape = self._probe()
        self.exact_rows = False
        self.row_by_row = False
        self.threads: ThreadChoice | None = None  # None: torch's own choice
        self.passes = 0

    def slot_bytes(self, capacity: int) -> int:
        """Bytes of the keys and values of one slot of `capacity` tokens."""
        return self.kv_shape.position_bytes(self.dtype) * allocated(capacity)

    def memory(self, slots: int, capacity: int, *, states: bool = False) -> KvMemory:
        """Memory of the right shape for this model; nothing is allocated until a slot is used.

        With `states` it keeps every token's last hidden state too.
        """
        width = int(self.model.config.get_text_config().hidden_size) if states else 0
        return KvMemory(self.kv_shape, slots, capacity, self.dtype, self.device, state_width=width)

    @torch.inference_mode()
    def forward(self, memory: KvMemory, feeds: Sequence[Feed]) -> list[Tensor]:
        """One pass over all rows. Returns per row its logits, `[feed.logits, width]` (width: padded vocabulary).

        The keys and values of every fed token are in `memory` afterwards.
        """
        tokens: list[int] = []
        positions: list[int] = []
        wanted: list[int] = []
        for feed in feeds:
            tokens += feed.tokens
            positions += range(feed.start, feed.start + len(feed.tokens))
            wanted += range(len(tokens) - feed.logits, len(tokens))
        spans = [span for feed in feeds for span in self._spans(feed)]
        batch = RaggedBatch(memory, spans)
        threads, began = self.threads, time.perf_counter()
        count = threads.count(len(tokens)) if threads else 0
        if count:
            torch.set_num_threads(count)
        logits = self.network(self._tensor(tokens), self._tensor(positions), self._tensor(wanted), batch)
        if threads:
            threads.observe(len(tokens), count, 1e3 * (time.perf_counter() - began))
        self.passes += 1
        return list(torch.split(logits, [feed.logits for feed in feeds]))

    def _tensor(self, values: list[int]) -> Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self.device)

    def _spans(self, feed: Feed) -> list[Span]:
        count = len(feed.tokens)
        if self.row_by_row and count <= SHORT:
            return [Span(feed.slot, feed.start + i, 1, self.device) for i in range(count)]
        return [Span(feed.slot, feed.start, count, self.device, self.exact_rows)]

    @torch.inference_mode()
    def _probe(self) -> KvShape:
        probe = Probe()
        one = torch.zeros(1, 1, dtype=torch.int64, device=self.device)
        try:
            self.model(input_ids=one, position_ids=one, use_cache=False, ragged=probe)
        except TypeError as error:
            raise UnsupportedModel(
                f"{self.model.config.model_type} models do not pass keyword arguments on to their attention"
            ) from error
        shapes = set(probe.layers.values())
        if len(shapes) != 1 or sorted(probe.layers) != list(range(len(probe.layers))):
            raise UnsupportedModel(
                f"{self.model.config.model_type} models have layers of several kinds; Foretype needs equal ones"
            )
        kv_heads, head_dim = shapes.pop()
        return KvShape(len(probe.layers), kv_heads, head_dim)


def _keep_states(_module: nn.Module, _arguments: Any, keywords: dict[str, Any], output: Any) -> None:
    batch = keywords.get("ragged")
    if isinstance(batch, RaggedBatch) and batch.memory.state_width:
        batch.keep_states(output[0][0])
