"""The draft model's side of a slot, as the `DraftModel` that the library `speculative` drafts with.

Knows nothing of how many tokens are drafted or which are kept.
"""

from collections.abc import Sequence

from torch import Tensor

from completion_server.kv.memory import KvMemory
from completion_server.kv.slots import Slot
from completion_server.models.decoder import Decoder, Feed
from completion_server.prefix import common_prefix


class DraftRow:
    """The draft's keys and values of one slot (another after a move). Implements `speculative.DraftModel`."""

    def __init__(self, decoder: Decoder, memory: KvMemory, slot: Slot) -> None:
        self._decoder = decoder
        self._memory = memory
        self.slot = slot
        self.fed_tokens = 0

    def sync(self, tokens: Sequence[int]) -> int:
        """Roll back to what the row shares with `tokens`, at most all but the last; returns how many are shared."""
        shared = min(common_prefix(self.slot.draft.tokens, tokens), len(tokens) - 1)
        self.slot.draft.rollback(shared)
        return shared

    def extend(self, tokens: Sequence[int]) -> Tensor:
        """Feed `tokens` (at least one) behind the row's end; returns the logits behind the last, `[width]`."""
        row = self.slot.draft
        (logits,) = self._decoder.forward(self._memory, [Feed(self.slot.index, len(row), tokens, logits=1)])
        row.append(tokens)
        self.fed_tokens += len(tokens)
        return logits[0]
