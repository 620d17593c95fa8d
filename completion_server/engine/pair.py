"""A loaded pair: the models with their memory, the tokenizer, the prompt layout and what is known about costs.

Holds things together; decides nothing.
"""

from dataclasses import dataclass, field

from torch import Tensor

from completion_server.kv.memory import KvMemory
from completion_server.kv.slots import SlotTable
from completion_server.models.decoder import Decoder
from completion_server.prompts import Layout, PromptBudget
from completion_server.tokenization import TextTokenizer
from speculative import PassCosts, Policy, TokenBytes


@dataclass(frozen=True, slots=True)
class DraftModelParts:
    """The draft model of a pair and the memory of its rows. `vocab_size` counts its real ids.

    `output_ids` (int64 `[V']`, ascending) are the tokens of the rows of a reduced output layer.
    """

    name: str
    decoder: Decoder
    memory: KvMemory
    vocab_size: int
    output_ids: Tensor | None = None


@dataclass(frozen=True, slots=True)
class LoadedPair:
    """Everything that one engine computes with. `context_tokens` is the longest prompt and suggestion together."""

    name: str
    target_name: str
    target: Decoder
    memory: KvMemory
    draft: DraftModelParts | None
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
