"""A loaded pair: the models with their memory, the tokenizer, the prompt layout and what is known about costs.

Holds things together; decides nothing.
"""

from dataclasses import dataclass, field

from torch import Tensor

from completion_server.engine.draft_row import DraftRow
from completion_server.engine.state_row import StateRow
from completion_server.kv.memory import KvMemory
from completion_server.kv.slots import Slot, SlotTable
from completion_server.models.decoder import Decoder
from completion_server.models.state_draft import StateDraftModel
from completion_server.prompts import Layout, PromptBudget
from completion_server.tokenization import TextTokenizer
from speculative import PassCosts, Policy, TokenBytes


@dataclass(frozen=True, slots=True)
class DraftModelParts:
    """The draft model of a pair and the memory of its rows. `vocab_size` counts its real ids.

    `output_ids` (int64 `[V']`, ascending) are the tokens of the rows of a reduced output layer, `expected` is how often
    its first, second … token in a row is right, a guess.
    """

    name: str
    decoder: Decoder
    memory: KvMemory
    vocab_size: int
    output_ids: Tensor | None = None
    expected: tuple[float, ...] = (0.7,)

    def row(self, slot: Slot) -> DraftRow:
        """The draft's side of `slot`."""
        return DraftRow(self.decoder, self.memory, slot)

    def copy(self, source: int, target: int, length: int) -> None:
        """Take the first `length` positions of one slot over into another."""
        self.memory.copy(source, target, length)

    @property
    def allocated_bytes(self) -> int:
        return self.memory.allocated_bytes


@dataclass(frozen=True, slots=True)
class StateDraftParts:
    """A draft that reads the target's last hidden states, which `target_memory` keeps; it has no memory of its own."""

    name: str
    model: StateDraftModel
    target_memory: KvMemory
    vocab_size: int

    @property
    def output_ids(self) -> Tensor:
        return self.model.output_ids

    @property
    def expected(self) -> tuple[float, ...]:
        return self.model.expected

    def row(self, slot: Slot) -> StateRow:
        """The draft's side of `slot`."""
        return StateRow(self.model, self.target_memory, slot)

    def copy(self, source: int, target: int, length: int) -> None:
        """Nothing to do: states go where the target's keys and values go."""

    @property
    def allocated_bytes(self) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class LoadedPair:
    """Everything that one engine computes with. `context_tokens` is the longest prompt and suggestion together."""

    name: str
    target_name: str
    target: Decoder
    memory: KvMemory
    draft: DraftModelParts | StateDraftParts | None
    drafters: tuple[str, ...]
    slots: SlotTable
    text: TextTokenizer
    token_bytes: TokenBytes
    vocab_size: int
    layout: Layout
    budget: PromptBudget
    healing: bool
    policy: Policy
    costs: PassCosts
    context_tokens: int
    kv_budget_bytes: int
    notes: tuple[str, ...] = field(default=())
