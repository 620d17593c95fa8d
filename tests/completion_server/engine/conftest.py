"""Whole engines over tiny random models in float64, driven step by step."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer

from completion_server.engine.continuation import Reach
from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.engine.loading import assemble
from completion_server.engine.pair import LoadedPair
from completion_server.kv.slots import SlotTable
from completion_server.models.int8 import quantize
from completion_server.models.loader import LoadedModel
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from completion_server.pairs import ModelRef, Pair
from completion_server.protocol import (
    Cancelled,
    Complete,
    Context,
    Decoding,
    EngineMessage,
    Error,
    Limits,
    Result,
    Warm,
    Warmed,
)
from completion_server.settings import EngineSettings, MemoryBudget
from speculative import AdaptivePolicy, Policy

FOLDER = ModelRef("folder", "/tiny")
LIMITS = Limits(max_tokens=24, max_lines=99)
GREEDY = Decoding()
LAST = Result | Warmed | Cancelled | Error


@dataclass
class Asked:
    """A request on its way: the job, and every reply that came."""

    job: Job
    replies: list[EngineMessage] = field(default_factory=list)

    @property
    def last(self) -> EngineMessage:
        """The one last reply."""
        last = [reply for reply in self.replies if isinstance(reply, LAST)]
        assert len(last) == 1, f"{len(last)} last replies"
        assert self.replies[-1] is last[0], "something came after the last reply"
        return last[0]

    @property
    def result(self) -> Result:
        assert isinstance(self.last, Result), self.last
        return self.last


class Driver:
    """An engine with requests to it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._keys = 0

    def submit(
        self,
        before: str,
        after: str = "",
        *,
        client: int = 1,
        document: str = "a.py",
        warm: bool = False,
        limits: Limits = LIMITS,
        decoding: Decoding = GREEDY,
        stream: bool = False,
        alternatives: int = 1,
        raw: bool = False,
    ) -> Asked:
        self._keys += 1
        context = Context(document, self._keys, before, after, language="python")
        request: Complete | Warm = (
            Warm(self._keys, context)
            if warm
            else Complete(self._keys, context, limits, decoding, stream, alternatives, raw)
        )
        asked = Asked(Job(self._keys, client, request, 0.0, lambda _: None, on_close=lambda _: True))
        asked.job.reply = asked.replies.append
        self.engine.add(asked.job)
        return asked

    def run(self) -> None:
        while self.engine.busy:
            self.engine.step()

    def rest(self) -> int:
        """Let the engine be idle until it has nothing left to continue; returns how many passes that took."""
        passes = self.engine.pair.target.passes
        while self.engine.rest_s is not None:
            self.engine.step()
        return self.engine.pair.target.passes - passes

    def ask(self, before: str, after: str = "", **options: Any) -> Result:
        asked = self.submit(before, after, **options)
        self.run()
        return asked.result

    def poison_stale(self) -> None:
        """Fill everything that the books do not call valid with NaN."""
        for slot in self.engine.pair.slots.slots:
            self.engine.pair.memory.poison(slot.index, len(slot.target))
            if self.engine.pair.draft is not None:
                self.engine.pair.draft.memory.poison(slot.index, len(slot.draft))


MakeDriver = Callable[..., Driver]


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return tiny_tokenizer()


@pytest.fixture(scope="session")
def load_tiny(tokenizer: Tokenizer) -> Callable[..., LoadedPair]:
    """Assembled pairs, each made once: what is slow about them is the same for every engine."""

    @functools.cache
    def load(
        *,
        draft: bool = False,
        slots: int = 3,
        context: int = 1024,
        healing: bool = True,
        drafters: tuple[str, ...] = ("tail", "n-gram"),
        fim: bool = False,
        padded_to: int | None = None,
        draft_padded_to: int | None = None,
        architecture: str = "llama",
        draft_seed: int = 2,
        draft_layers: int = 1,
        int8: bool = False,
        plain_text: bool = False,
        kv_budget: int = 1 << 28,
    ) -> LoadedPair:
        tokens = tiny_tokenizer(fim=True) if fim else tiny_tokenizer(merges=0) if plain_text else tokenizer
        named = (*drafters, "model") if draft else drafters
        layout = "auto" if fim else "prefix-only"  # the prompt is the text before the cursor
        pair = Pair("tiny", FOLDER, FOLDER if draft else None, named, layout, healing=healing)
        dtype = torch.float32 if int8 else torch.float64
        target = tiny_model(tokens, seed=1, padded_to=padded_to, architecture=architecture, dtype=dtype)
        if plain_text:
            write_plainly(target, tokens)
        if int8:
            quantize(target.decoder.model)
            target.decoder.exact_rows = True
        small = tiny_model(tokens, seed=draft_seed, layers=draft_layers, padded_to=draft_padded_to) if draft else None
        settings = EngineSettings(slots=slots, context_tokens=context, kv_budget=MemoryBudget(bytes=kv_budget))
        return assemble(pair, target, small, settings)

    return load


def write_plainly(model: LoadedModel, tokenizer: Tokenizer) -> None:
    """Let the model write a few letters and line ends: with a token per byte there is one way to encode its text."""
    head = model.decoder.model.lm_head.weight
    chosen = [tokenizer.encode(char).ids[0] for char in "abcdefghijkl()=\n"]
    mask = torch.zeros(len(head), 1, dtype=head.dtype)
    mask[chosen] = 1
    with torch.no_grad():
        head.mul_(mask)


@pytest.fixture
def make_driver(load_tiny: Callable[..., LoadedPair]) -> MakeDriver:
    """`make_driver(draft=True, chunk=…, policy=…)`: every call is a fresh engine with the same weights."""

    def make(
        *,
        chunk: int = 16,
        policy: Policy | None = None,
        reach: Reach | None = None,
        poison: bool = True,
        **options: Any,
    ) -> Driver:
        loaded = load_tiny(**options)
        count, capacity = len(loaded.slots.slots), loaded.memory.capacity
        draft = loaded.draft
        fresh = replace(
            loaded,
            slots=SlotTable(count, capacity),
            memory=loaded.target.memory(count, capacity),
            draft=replace(draft, memory=draft.decoder.memory(count, capacity)) if draft else None,
            policy=policy or AdaptivePolicy(loaded.costs),
        )
        driver = Driver(Engine(fresh, chunk_tokens=chunk, reach=reach))
        if poison:
            driver.poison_stale()
        return driver

    return make
