"""A draft that goes on from the target's hidden states, as the `DraftModel` that the library `speculative` drafts with.

It keeps nothing between rounds: each starts from the state that the target left one position before the last token.
"""

from collections.abc import Sequence

from torch import Tensor

from completion_server.kv.memory import KvMemory
from completion_server.kv.slots import Slot
from completion_server.models.state_draft import StateDraftModel


class StateRow:
    """The draft's side of a slot (another after a move). Implements `speculative.DraftModel`.

    `memory` is the target's and keeps its states.
    """

    def __init__(self, model: StateDraftModel, memory: KvMemory, slot: Slot) -> None:
        self._model = model
        self._memory = memory
        self._state: Tensor | None = None
        self.slot = slot
        self.fed_tokens = 0

    def sync(self, tokens: Sequence[int]) -> int:
        """Begin behind all of `tokens` but the last.

        The target's row must hold those, which it does between two rounds, or the state is not theirs.
        """
        before = len(tokens) - 1
        if before == 0:
            self._state = None  # there is none before the first token; it counts as 0
        else:
            self._state = self._memory.states(self.slot.index)[before - 1]
        return before

    def extend(self, tokens: Sequence[int]) -> Tensor:
        """Go one step on for each of `tokens` (at least one); returns the logits behind the last, `[V']`."""
        state = self._state
        if state is None:
            state = self._memory.states(self.slot.index).new_zeros(self._memory.state_width)
        for token in tokens:
            state, logits = self._model.step(token, state)
        self._state = state
        self.fed_tokens += len(tokens)
        return logits
