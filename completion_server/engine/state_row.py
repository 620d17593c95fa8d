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

        The target's row holds those between two rounds; where it does not, a draft can only guess from the token.
        """
        before = len(tokens) - 1
        states = self._memory.states(self.slot.index)
        known = 0 < before <= len(self.slot.target)
        self._state = states[before - 1] if known else states.new_zeros(self._memory.state_width)
        return before

    def extend(self, tokens: Sequence[int]) -> Tensor:
        """Go one step on for each of `tokens` (at least one); returns the logits behind the last, `[V']`."""
        if self._state is None or not tokens:
            raise ValueError("a row is extended by at least one token, after sync")
        *given, last = tokens
        for token in given:
            self._state = self._model.advance(token, self._state)
        self._state, logits = self._model.step(last, self._state)
        self.fed_tokens += len(tokens)
        return logits
