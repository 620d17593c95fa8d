"""Passes of our decoder beside those of the stock model: eager attention, fp32, its own cache, the same context.

Both take turns, a few passes each: in decoding a pass follows one of the same model, so the first of each turn, which
finds the other's weights in the caches, is not counted. The stock model gets the number of threads that is best for it
at each width, as ours does. Knows nothing of requests.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from bench.percentiles import median, ratio
from bench.stock import cache_argument, cache_of, load_stock
from completion_server.engine.pair import LoadedPair
from completion_server.models.decoder import Feed

WIDTHS = (1, 8)
CONTEXT = 1_024  # tokens before a measured pass, and of the cold prompt
COLD_REPEATS = 3
IN_A_ROW = 3  # counted passes of a turn


def measure_passes(pair: LoadedPair, chunk: int, folder: Path, threads: int, repeats: int) -> dict[str, Any]:
    """Milliseconds (p50 of `repeats`) by width, of a cold prompt and of one of its chunks, and ratios ours ÷ stock.

    `folder` holds the stock model; `threads` are all that there are. Writes into slot 0, which must be free.
    """
    pair.slots.clear()
    context = min(CONTEXT, pair.memory.capacity - max(WIDTHS))
    ours, stock = _Ours(pair, chunk, context), _Stock(folder, pair.target.device, threads, context)
    widths: dict[int, tuple[list[float], list[float]]] = {width: ([], []) for width in WIDTHS}
    cold: tuple[list[float], list[float]] = ([], [])
    for number in range(-1, COLD_REPEATS):
        times = ours.cold(), stock.cold()
        if number >= 0:  # the first is rehearsal
            cold[0].append(times[0])
            cold[1].append(times[1])
    for number in range(-1, repeats):
        for width, found in widths.items():
            times = ours.step(width), stock.step(width)
            if number >= 0:
                found[0].append(times[0])
                found[1].append(times[1])
    our_ms = {str(width): median(found[0]) for width, found in widths.items()}
    stock_ms = {str(width): median(found[1]) for width, found in widths.items()}
    our_cold, stock_cold = median(cold[0]), median(cold[1])
    return {
        "pass_context": context,
        "context_pass_ms": our_ms,
        "stock_pass_ms": stock_ms,
        "pass_ratio": {width: ratio(our_ms[width] or 0, stock_ms[width] or 0) for width in our_ms},
        "cold_1024_ms": our_cold,
        "cold_chunk_ms": round((our_cold or 0) / -(-context // chunk), 3),
        "stock_cold_1024_ms": stock_cold,
        "cold_1024_ratio": ratio(our_cold or 0, stock_cold or 0),
    }


class _Ours:
    """As the engine feeds: the prompt in chunks without logits but for its last token's, a round with logits of all."""

    def __init__(self, pair: LoadedPair, chunk: int, context: int) -> None:
        self._pair = pair
        self._chunk = chunk
        self._tokens = _tokens(context + max(WIDTHS), pair.vocab_size)
        self._context = context

    def step(self, width: int) -> float:
        return _in_a_row(lambda: self._time(lambda: self._feed(self._context, self._context + width, width)))

    def cold(self) -> float:
        def prompt() -> None:
            for start in range(0, self._context, self._chunk):
                end = min(self._context, start + self._chunk)
                self._feed(start, end, int(end == self._context))

        return self._time(prompt)

    def _feed(self, start: int, end: int, logits: int) -> None:
        self._pair.target.forward(self._pair.memory, [Feed(0, start, self._tokens[start:end], logits)])

    def _time(self, call: Callable[[], object]) -> float:
        return _timed(call, self._pair.target.device)


class _Stock:
    def __init__(self, folder: Path, device: torch.device, threads: int, context: int) -> None:
        self._model = model = load_stock(folder, attn_implementation="eager")
        model.to(device)  # type: ignore[arg-type]
        self._cache_argument = cache_argument(self._model)
        self._device = device
        self._threads = threads
        tokens = _tokens(context + max(WIDTHS), int(model.config.get_text_config().vocab_size))
        self._ids = torch.tensor([tokens], device=device)
        self._context = context
        self._cache: Any = None

    def step(self, width: int) -> float:
        """The better of one thread and all; behind it the cache is as it was."""
        return min(_in_a_row(partial(self._step, width, count)) for count in {1, self._threads})

    @torch.inference_mode()
    def cold(self) -> float:
        torch.set_num_threads(self._threads)

        def prompt() -> None:
            ids = self._ids[:, : self._context]
            self._cache = cache_of(self._model(ids, use_cache=True, logits_to_keep=1))

        return _timed(prompt, self._device)

    @torch.inference_mode()
    def _step(self, width: int, threads: int) -> float:
        torch.set_num_threads(threads)
        ids = self._ids[:, self._context : self._context + width]
        cache = {self._cache_argument: self._cache}
        milliseconds = _timed(lambda: self._model(ids, use_cache=True, **cache), self._device)
        self._cache.crop(-width)
        return milliseconds


def _in_a_row(step: Callable[[], float]) -> float:
    step()
    return statistics.median(step() for _ in range(IN_A_ROW))


def _tokens(count: int, vocab_size: int) -> list[int]:
    return [(7 * index + 3) % vocab_size for index in range(count)]


def _timed(call: Callable[[], object], device: torch.device) -> float:
    """Milliseconds."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    began = time.perf_counter()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return 1e3 * (time.perf_counter() - began)
