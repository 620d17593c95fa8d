"""A transformers decoder whose keys and values live in our memory: one pass over a ragged batch of rows.

Knows nothing of requests, text or drafting; `engine` decides what to feed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel

from completion_server.errors import UnsupportedModel
from completion_server.kv.memory import KvMemory, KvShape
from completion_server.models import attention
from completion_server.models.attention import Probe, RaggedBatch, Span

SHORT = 32  # tokens; a longer feed is a chunk of a prompt


@dataclass(frozen=True, slots=True)
class Feed:
    """What one row puts into a pass: `tokens` at positions `start`… of `slot`; logits of the last `logits` of them."""

    slot: int
    start: int
    tokens: Sequence[int]
    logits: int


class Decoder:
    """A causal language model over `KvMemory`.

    The stock model is used as it is; only its attention function is exchanged.

    With `exact_rows` the logits of a token are the same to the bit however many tokens share its pass, if the model's
    other layers are (`int8`): tokens whose logits are asked for, and all tokens of short feeds, attend one by one.
    A matrix product over several rows may add up in another order than over one.
    Raises UnsupportedModel where transformers did not take the exchange (Bloom, MPT) or the layers differ in shape.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        attention.register()
        model.set_attn_implementation(attention.NAME)
        if model.config._attn_implementation != attention.NAME:
            raise UnsupportedModel(f"{model.config.model_type} models do not let their attention be exchanged")
        model.eval()  # type: ignore[no-untyped-call]
        self.model = model
        self.device = model.device
        self.dtype = model.dtype  # of activations, keys and values
        self.arithmetic = str(model.dtype).removeprefix("torch.")
        self.kv_shape = self._probe()
        self.exact_rows = False
        self.threads: dict[int, int] = {}  # by width, as measured; empty: torch's own choice
        self.passes = 0

    def memory(self, slots: int, capacity: int) -> KvMemory:
        """Memory of the right shape for this model; nothing is allocated until a slot is used."""
        return KvMemory(self.kv_shape, slots, capacity, self.dtype, self.device)

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
        self._use_threads(len(tokens))
        spans = [Span(feed.slot, feed.start, len(feed.tokens), self._alone(feed)) for feed in feeds]
        output = self.model(
            input_ids=torch.tensor([tokens], device=self.device),
            position_ids=torch.tensor([positions], device=self.device),
            use_cache=False,
            logits_to_keep=torch.tensor(wanted, dtype=torch.int64, device=self.device),
            ragged=RaggedBatch(memory, spans),
        )
        self.passes += 1
        return list(output.logits[0].split([feed.logits for feed in feeds]))

    def _use_threads(self, width: int) -> None:
        """Narrow passes are often faster on one thread, which also leaves the other cores to the editor."""
        if self.threads:
            measured = [at for at in self.threads if at >= width]
            torch.set_num_threads(self.threads[min(measured) if measured else max(self.threads)])

    def _alone(self, feed: Feed) -> int:
        if not self.exact_rows:
            return 0
        return len(feed.tokens) if len(feed.tokens) <= SHORT else feed.logits

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
