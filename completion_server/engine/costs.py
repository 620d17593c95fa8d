"""Measures what passes cost on this machine: for the choice of how much to draft, and on how many threads.

Run once, while loading.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import torch

from completion_server.engine.pair import DraftModelParts, StateDraftParts
from completion_server.kv.memory import KvMemory
from completion_server.kv.static_memory import StaticMemory
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.threads import ThreadChoice
from speculative import PassCosts

WIDTHS = (1, 2, 4, 8, 16)
CHUNK = 128  # a wide pass, measured only to choose its threads
CONTEXT = 512  # positions before the measured ones: a usual prompt's worth of attention
LONGER = 3_072  # the same for long ones; a line between them says what lies between and beyond
REPEATS = 5

Turn = Callable[[], AbstractContextManager[None]]
"""Entered around each measured pass, so that nothing else computes meanwhile."""


def measure(
    target: Decoder, memory: KvMemory, draft: DraftModelParts | StateDraftParts | None, turn: Turn = nullcontext
) -> PassCosts:
    """Milliseconds of a target pass at each of `WIDTHS`, behind a usual and a long prompt, and of a draft step.

    Writes into slot 0, which must be free.
    On a CPU it also finds out how many threads are best at each width, and tells the decoders.
    """
    start = min(CONTEXT, memory.capacity - CHUNK)
    found, target.threads = _decoder_ms(target, memory, start, (*WIDTHS, CHUNK), turn)
    longer: dict[int, float] = {}
    if memory.capacity >= LONGER + max(WIDTHS):
        threads = target.threads
        longer = _rising(_decoder_ms(target, memory, LONGER, WIDTHS, turn)[0])
        target.threads = threads
    return PassCosts(_rising(found), _draft_step_ms(draft, turn), False, start, longer, LONGER if longer else 0)


def _rising(found: Mapping[int, float]) -> dict[int, float]:
    """A wider pass never costs less; the clock is noisy."""
    return {width: max(found[at] for at in WIDTHS if at <= width) for width in WIDTHS}


def _draft_step_ms(draft: DraftModelParts | StateDraftParts | None, turn: Turn) -> dict[str, float]:
    if draft is None:
        return {}
    if isinstance(draft, StateDraftParts):
        return {"model": _step_ms(draft, turn)}
    start = min(CONTEXT, draft.memory.capacity - CHUNK)
    found, draft.decoder.threads = _decoder_ms(draft.decoder, draft.memory, start, (1, CHUNK), turn)
    return {"model": found[1]}


def _decoder_ms(
    decoder: Decoder, memory: KvMemory, start: int, widths: tuple[int, ...], turn: Turn
) -> tuple[dict[int, float], ThreadChoice | None]:
    """Milliseconds by width behind `start` positions, and how to choose threads."""
    decoder.threads = None
    if not isinstance(memory, StaticMemory):  # which is zeros from the start
        memory.block(0)[:, :, :, :start].zero_()  # touched, so that it is read from memory like a real prompt's
    decoder.forward(memory, [Feed(0, 0, [0], 0)])  # so that there is a state for a draft to step from

    def run(width: int) -> object:
        return decoder.forward(memory, [Feed(0, start, [0] * width, width)])

    return _measure(run, widths, decoder.device, turn)


def _step_ms(draft: StateDraftParts, turn: Turn) -> float:
    """Milliseconds of a step with the best number of threads."""
    state = draft.target_memory.states(0)[0]
    found, draft.model.threads = _measure(lambda _: draft.model.step(0, state), (1,), state.device, turn)
    return found[1]


def _measure(
    run: Callable[[int], object], widths: tuple[int, ...], device: torch.device, turn: Turn
) -> tuple[dict[int, float], ThreadChoice | None]:
    """Milliseconds by width, and how to choose threads where there is a choice."""

    def timed(width: int) -> float:
        with turn():
            return _timed(partial(run, width), device)

    every = torch.get_num_threads()
    counts = (1, every) if device.type == "cpu" and every > 1 else (every,)
    measured: dict[int, dict[int, float]] = {}
    for width in widths:
        measured[width] = {}
        for count in counts:
            torch.set_num_threads(count)
            measured[width][count] = statistics.median(timed(width) for _ in range(REPEATS))
    torch.set_num_threads(every)
    found = {width: min(by_count.values()) for width, by_count in measured.items()}
    return found, ThreadChoice(measured) if len(counts) > 1 else None


def _timed(call: Callable[[], object], device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    began = time.perf_counter()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return 1e3 * (time.perf_counter() - began)
