"""Rounds on the device, graphs off: the tokens of the target alone, whatever the draft says, in as few passes."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from completion_server.models.decoder import Decoder, Feed
from completion_server.models.device_round import DeviceRound, Side
from completion_server.models.pieces import Plan
from completion_server.models.static import StaticDecoder
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from speculative import FixedPolicy, Generation, ModelDrafter, generate

TOKENIZER = tiny_tokenizer()
SIZE = TOKENIZER.get_vocab_size()
PROMPT = [(7 * i + 3) % SIZE for i in range(21)]
COUNT = 100
CAPACITY = len(PROMPT) + COUNT + 4
TARGET = Plan(narrow=(8,), wide=(32,), first_bucket=32)
DRAFT = Plan(narrow=(1, 2, 8), wide=(32,), rows=(1,), first_bucket=32)


def model(seed: int) -> Decoder:
    return tiny_model(TOKENIZER, seed=seed, padded_to=SIZE + 80).decoder


class Row:
    """A decoder as the library's target and draft model."""

    def __init__(self, decoder: Decoder) -> None:
        self.tokens: list[int] = []
        self._decoder, self._memory = decoder, decoder.memory(1, CAPACITY)

    @property
    def length(self) -> int:
        return len(self.tokens)

    def rollback(self, length: int) -> None:
        del self.tokens[length:]

    def forward(self, fed: Sequence[int], last: int) -> Tensor:
        (logits,) = self._decoder.forward(self._memory, [Feed(0, len(self.tokens), list(fed), last)])
        self.tokens += fed
        return logits

    def sync(self, tokens: Sequence[int]) -> int:
        same = next((i for i, pair in enumerate(zip(self.tokens, tokens, strict=False)) if pair[0] != pair[1]), None)
        self.rollback(min(len(self.tokens) if same is None else same, len(tokens) - 1))
        return len(self.tokens)

    def extend(self, tokens: Sequence[int]) -> Tensor:
        return self.forward(tokens, 1)[0]


def by_the_library(draft: int, k: int) -> tuple[list[int], int]:
    """Tokens and target passes of `speculative.generate` over ordinary decoders."""
    generation = Generation(
        PROMPT,
        max_new_tokens=COUNT,
        stop_ids=frozenset(),
        vocab_size=SIZE,
        policy=FixedPolicy(k),
        drafters=[ModelDrafter(Row(model(draft)), SIZE)] if k else [],
    )
    passes = sum(1 for _ in generate(Row(model(1)), generation))
    return list(generation.generated), passes


def by_rounds(draft: int, k: int, slot: int = 0, override: object = None) -> tuple[list[int], int]:
    target = StaticDecoder(model(1).model, TARGET)
    small = StaticDecoder(model(draft).model, DRAFT)
    sides = [Side(decoder, decoder.memory(2, CAPACITY)) for decoder in (target, small)]
    rounds = DeviceRound(*sides, drafted=k, vocab_size=SIZE, override=override)  # type: ignore[arg-type]
    rounds.prepare()
    for side in sides:
        side.memory.poison(0, 0)
        side.memory.poison(1, 0)
        side.decoder.forward(side.memory, [Feed(slot, 0, PROMPT[:-1], 0)])
    rounds.begin(slot, PROMPT)
    found: list[int] = []
    count = 0
    while len(found) < COUNT:
        found += rounds.round()
        count += 1
    return found[:COUNT], count


@pytest.mark.parametrize(("draft", "k"), [(1, 1), (1, 5), (2, 5), (2, 7)])
def test_the_tokens_are_those_of_the_library(draft: int, k: int) -> None:
    found, rounds = by_rounds(draft, k)
    expected, passes = by_the_library(draft, k)
    assert found == expected
    edges = 3 * k  # before the end of each bucket a few tokens are decoded plainly
    assert rounds <= passes + edges


def test_a_draft_equal_to_the_target_is_accepted_whole() -> None:
    _, rounds = by_rounds(1, 5)
    assert rounds < COUNT / 3


def test_another_slot_gives_the_same() -> None:
    assert by_rounds(2, 3, slot=1) == by_rounds(2, 3, slot=0)


def test_overridden_drafts_are_what_is_verified() -> None:
    """Every second token of the truth is exchanged: one of each pair is accepted, and the tokens stay the same."""
    truth, _ = by_the_library(2, 0)
    text = torch.tensor([*PROMPT, *truth, *[0] * 16])

    def override(drafted: Tensor, position: Tensor) -> Tensor:
        places = position + torch.arange(len(drafted))
        return torch.where(places % 2 == 0, text[places], SIZE - 1 - text[places])

    found, rounds = by_rounds(2, 2, override=override)
    assert found == truth
    assert rounds == pytest.approx(COUNT / 2, abs=12)


def test_too_many_drafts_for_the_width_are_refused() -> None:
    with pytest.raises(ValueError, match="1 to 7"):
        by_rounds(1, 8)
