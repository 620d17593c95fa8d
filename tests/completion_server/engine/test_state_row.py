"""A draft on the target's states: it must be handed the right ones, and never change the text."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from completion_server.engine.engine import Engine
from completion_server.engine.loading import assemble
from completion_server.engine.state_row import StateRow
from completion_server.kv.slots import SlotTable
from completion_server.models.decoder import Feed
from completion_server.models.state_draft import StateDraftModel
from completion_server.models.tiny import tiny_model
from completion_server.pairs import ModelRef, Pair
from completion_server.protocol import Decoding
from completion_server.settings import EngineSettings, MemoryBudget
from speculative import FixedPolicy
from speculative.distill import Shape, StateDraft
from tests.completion_server.engine.conftest import Driver

FOLDER = ModelRef("folder", "/tiny")
HIDDEN = 48
BEFORE = "def add(left, right):\n    return left + right\n\ndef sub("


class Spy(StateDraftModel):
    """Says arbitrary tokens of a small vocabulary and remembers what it was handed."""

    def __init__(self, target: nn.Module) -> None:
        torch.manual_seed(4)
        embeddings = target.get_input_embeddings().weight.detach()  # type: ignore[operator]
        ids = torch.arange(10, 200, 2)
        draft = StateDraft(Shape(HIDDEN, 2 * HIDDEN, 1e-6)).double()
        head = nn.Linear(HIDDEN, len(ids), bias=False, dtype=torch.float64)
        super().__init__(draft, head, embeddings, ids)
        self.handed: list[tuple[int, Tensor]] = []

    def step(self, token: int, state: Tensor) -> tuple[Tensor, Tensor]:
        self.handed.append((token, state.clone()))
        assert not state.isnan().any(), "a state that nobody computed was read"
        return super().step(token, state)


@pytest.fixture
def driver() -> Driver:
    target = tiny_model(seed=1)
    pair = Pair("tiny", FOLDER, FOLDER, ("tail", "n-gram", "model"), "prefix-only")
    settings = EngineSettings(slots=2, context_tokens=512, kv_budget=MemoryBudget(bytes=1 << 28))
    spy = Spy(target.decoder.model)
    loaded = assemble(pair, target, spy, settings)
    spy.handed.clear()  # its cost was measured
    for slot in range(2):
        loaded.memory.poison(slot, 0)
    slots = SlotTable(2, loaded.memory.capacity)
    return Driver(Engine(replace(loaded, slots=slots, policy=FixedPolicy(3)), chunk_tokens=16))


def states_of(driver: Driver, tokens: list[int]) -> Tensor:
    """The last hidden states of the stock arithmetic, `[len(tokens), hidden]`."""
    decoder = driver.engine.pair.target
    memory = decoder.memory(1, 512, states=True)
    decoder.forward(memory, [Feed(0, 0, tokens, 1)])
    return memory.states(0)[: len(tokens)]


def test_states_are_those_behind_the_output_layer(driver: Driver) -> None:
    decoder = driver.engine.pair.target
    memory = decoder.memory(1, 64, states=True)
    (logits,) = decoder.forward(memory, [Feed(0, 0, [5, 6, 7], 3)])
    head = decoder.model.get_output_embeddings().weight.detach()
    torch.testing.assert_close(memory.states(0)[:3] @ head.T, logits)


def test_a_round_begins_with_the_state_before_the_last_token(driver: Driver) -> None:
    pair = driver.engine.pair
    spy = pair.draft.model
    slot = pair.slots.slots[0]
    tokens = [5, 9, 30, 31, 8]
    pair.target.forward(pair.memory, [Feed(0, 0, tokens[:4], 1)])
    slot.target.append(tokens[:4])
    row = StateRow(spy, pair.memory, slot)
    assert row.sync(tokens) == 4
    first = row.extend([8])
    ((token, state),) = spy.handed
    assert token == 8
    torch.testing.assert_close(state, states_of(driver, tokens[:4])[3])
    assert first.shape == (95,)
    row.extend([12])
    own = StateDraftModel.step(spy, 8, state)[0]
    torch.testing.assert_close(spy.handed[1][1], own)
    row.sync(tokens)
    assert torch.equal(row.extend([8]), first), "it begins anew whatever was drafted before"
    assert row.fed_tokens == 3


@pytest.mark.parametrize("tokens", [[5], [5, 6, 7]])
def test_without_a_state_it_guesses_from_the_token(driver: Driver, tokens: list[int]) -> None:
    pair = driver.engine.pair
    row = StateRow(pair.draft.model, pair.memory, pair.slots.slots[0])
    assert row.sync(tokens) == len(tokens) - 1
    row.extend(tokens[-1:])
    assert pair.draft.model.handed[0][1].abs().max() == 0


def test_the_text_is_that_of_the_target_alone_and_every_state_is_the_right_one(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[tuple[list[int], int]] = []
    sync: Callable[[StateRow, list[int]], int] = StateRow.sync

    def watched(row: StateRow, tokens: list[int]) -> int:
        began.append((list(tokens), len(spy.handed)))
        return sync(row, tokens)

    spy = driver.engine.pair.draft.model
    monkeypatch.setattr(StateRow, "sync", watched)
    drafted = driver.ask(BEFORE)
    assert drafted.usage.drafted_by.get("model", 0) > 3
    alone = driver.ask(BEFORE, document="other.py", decoding=Decoding(drafting=False))
    assert drafted.text == alone.text
    checked = 0
    for tokens, at in began:
        if at < len(spy.handed) and spy.handed[at][0] == tokens[-1]:
            torch.testing.assert_close(spy.handed[at][1], states_of(driver, tokens[:-1])[-1])
            checked += 1
    assert checked > 3


def test_a_second_document_that_takes_over_the_head_of_the_first_takes_its_states_too(driver: Driver) -> None:
    driver.ask(BEFORE)
    other = driver.ask(BEFORE + "left", document="copy.py")
    assert other.usage.cached_tokens > 0
    assert other.text == driver.ask(BEFORE + "left", document="third.py", decoding=Decoding(drafting=False)).text
