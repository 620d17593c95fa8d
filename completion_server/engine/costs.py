"""Measures what passes cost on this machine, for the choice of how much to draft. Run once, while loading."""

import statistics
import time
from collections.abc import Callable

import torch

from completion_server.engine.pair import DraftModelParts
from completion_server.kv.memory import KvMemory
from completion_server.models.decoder import Decoder, Feed
from speculative import PassCosts

WIDTHS = (1, 2, 4, 8, 16)
CONTEXT = 512  # positions before the measured ones: a usual prompt's worth of attention
REPEATS = 5


def measure(target: Decoder, memory: KvMemory, draft: DraftModelParts | None) -> PassCosts:
    """Milliseconds of a target pass at each of `WIDTHS` and of a draft step. Writes into slot 0, which must be free."""
    start = min(CONTEXT, memory.capacity - WIDTHS[-1])
    _fill(target, memory, start)
    target_ms: dict[int, float] = {}
    least = 0.0
    for width in WIDTHS:
        least = max(
            least, _median_ms(target, memory, start, width)
        )  # a wider pass never costs less; the clock is noisy
        target_ms[width] = least
    if draft is None:
        return PassCosts(target_ms)
    _fill(draft.decoder, draft.memory, start)
    return PassCosts(target_ms, {"model": _median_ms(draft.decoder, draft.memory, start, 1)})


def _fill(decoder: Decoder, memory: KvMemory, count: int) -> None:
    decoder.forward(memory, [Feed(0, 0, [0] * count, 0)])


def _median_ms(decoder: Decoder, memory: KvMemory, start: int, width: int) -> float:
    feed = Feed(0, start, [0] * width, width)
    return statistics.median(_timed(lambda: decoder.forward(memory, [feed]), decoder.device) for _ in range(REPEATS))


def _timed(call: Callable[[], object], device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    began = time.perf_counter()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return 1e3 * (time.perf_counter() - began)
