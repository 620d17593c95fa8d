"""What the parts share: the device, the models (each made once, when first asked for), the clock, the time left."""

import gc
import random
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeVar

import torch
from transformers import PreTrainedModel

from bench.gpu.shapes import Sizes, make
from completion_server.models.graphs import Graphs
from completion_server.models.pieces import Plan
from completion_server.models.static import StaticDecoder

T = TypeVar("T")
ONE_BUCKET = 1 << 30  # as the first bucket: attention reads a whole place


class Stage:
    """`draft` names the draft model of rounds, lines and peers."""

    def __init__(self, sizes: Sizes, device: torch.device, draft: str) -> None:
        self.sizes, self.device, self.draft_name = sizes, device, draft
        self.dtype = torch.bfloat16
        self.cut_short = False
        self._deadline = float("inf")
        self.model = cache(self._make)

    @property
    def target(self) -> PreTrainedModel:
        return self.model("target")

    @property
    def draft(self) -> PreTrainedModel:
        return self.model(self.draft_name)

    def decoder(
        self, model: PreTrainedModel, plan: Plan, *, graphs: bool = True, eight_bit: bool = False
    ) -> StaticDecoder:
        """A decoder of its own for one part: its graphs go when the part ends."""
        return StaticDecoder(model, plan, graphs=Graphs(self.device, enabled=graphs), eight_bit=eight_bit)

    def tokens(self, count: int, seed: int = 0) -> list[int]:
        choice = random.Random(seed)
        return [choice.randrange(self.sizes.real_ids) for _ in range(count)]

    # -- time ------------------------------------------------------------------------------------------------------

    def begin(self, budget_s: float) -> None:
        """A part begins; what the last one held is let go."""
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        self.cut_short = False
        self._deadline = time.perf_counter() + budget_s

    def within(self, items: Iterable[T]) -> Iterator[T]:
        """The items, as long as the part's time lasts; the first always."""
        for number, item in enumerate(items):
            if number and time.perf_counter() > self._deadline:
                self.cut_short = True
                return
            yield item

    def ms(self, call: Callable[[], object]) -> float:
        """Milliseconds from the call until the device has done what it started."""
        self.wait()
        began = time.perf_counter()
        call()
        self.wait()
        return 1e3 * (time.perf_counter() - began)

    def times(self, call: Callable[[], object], repeats: int | None = None) -> list[float]:
        """Milliseconds of several calls, after one that is not counted."""
        call()
        return [self.ms(call) for _ in range(repeats or self.sizes.repeats)]

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def _make(self, name: str) -> PreTrainedModel:
        if name == "target":
            return make(self.sizes.target, self.sizes, self.device, self.dtype, seed=1)
        return make(self.sizes.drafts[name], self.sizes, self.device, self.dtype, seed=2)
