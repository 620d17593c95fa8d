"""Measures what passes cost on this machine: for the choice of how much to draft, and on how many threads.

Run once, while loading.
"""

import statistics
import time
from collections.abc import Callable

import torch

from completion_server.engine.pair import DraftModelParts
from completion_server.kv.memory import KvMemory
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.threads import ThreadChoice
from speculative import PassCosts

WIDTHS = (1, 2, 4, 8, 16)
CHUNK = 128  # a wide pass, measured only to choose its threads
CONTEXT = 512  # positions before the measured ones: a usual prompt's worth of attention
REPEATS = 3


def measure(target: Decoder, memory: KvMemory, draft: DraftModelParts | None) -> PassCosts:
    """Milliseconds of a target pass at each of `WIDTHS` and of a draft step. Writes into slot 0, which must be free.

    On a CPU it also finds out how many threads are best at each width, and tells the decoders.
    """
    found = _measure(target, memory, (*WIDTHS, CHUNK))
    target_ms: dict[int, float] = {}
    least = 0.0
    for width in WIDTHS:
        least = max(least, found[width])  # a wider pass never costs less; the clock is noisy
        target_ms[width] = least
    if draft is None:
        return PassCosts(target_ms)
    return PassCosts(target_ms, {"model": _measure(draft.decoder, draft.memory, (1, CHUNK))[1]})


def _measure(decoder: Decoder, memory: KvMemory, widths: tuple[int, ...]) -> dict[int, float]:
    """Milliseconds by width, with the best number of threads at each."""
    start = min(CONTEXT, memory.capacity - max(widths))
    _fill(decoder, memory, start)
    every = torch.get_num_threads()
    counts = (1, every) if decoder.device.type == "cpu" and every > 1 else (every,)
    measured: dict[int, dict[int, float]] = {}
    for width in widths:
        measured[width] = {}
        for count in counts:
            torch.set_num_threads(count)
            measured[width][count] = _median_ms(decoder, memory, start, width)
    torch.set_num_threads(every)
    if len(counts) > 1:
        decoder.threads = ThreadChoice(measured)
    return {width: min(by_count.values()) for width, by_count in measured.items()}


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
