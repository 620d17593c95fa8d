"""What an engine says of itself: a line for a person, and counters and facts for a status."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import torch

from completion_server.backend import Snapshot
from completion_server.engine.choices import LastReply
from completion_server.engine.pair import LoadedPair
from completion_server.engine.work import Work
from completion_server.protocol import Cancelled, Error


@dataclass(slots=True)
class Tally:
    """Requests by how they ended, and the tokens that cancelled ones had computed."""

    completed: int = 0
    cancelled: int = 0
    failed: int = 0
    wasted_tokens: int = 0

    def count(self, reply: LastReply) -> None:
        """A request was answered."""
        if isinstance(reply, Cancelled):
            self.cancelled += 1
        elif isinstance(reply, Error):
            self.failed += 1
        else:
            self.completed += 1


def description(pair: LoadedPair) -> str:
    """One line for a person: what computes, where, and how fast."""
    costs = pair.costs
    draft = pair.draft.name if pair.draft else "no draft model"
    return (
        f"{pair.target_name} with {draft}, {', '.join(pair.drafters)} on {pair.target.device.type} "
        f"({pair.target.arithmetic}); a pass takes {costs.target(1):.0f} ms at width 1, "
        f"{costs.target(8):.0f} ms at 8"
    )


def snapshot(pair: LoadedPair, works: Collection[Work], tally: Tally) -> Snapshot:
    """Of an engine at work on `works`, of which the branches of one request count once."""
    draft_bytes = pair.draft.allocated_bytes if pair.draft else 0
    requests = {id(work.choices or work) for work in works}
    running = {id(work.choices or work) for work in works if work.sequence is not None}
    return Snapshot(
        device=str(pair.target.device),
        dtype=pair.target.arithmetic,
        target=pair.target_name,
        draft=pair.draft.name if pair.draft else None,
        drafters=pair.drafters,
        running=len(running),
        queued=len(requests - running),
        slots_used=pair.slots.used,
        slots_total=len(pair.slots.slots),
        kv_bytes=pair.memory.allocated_bytes + draft_bytes,
        kv_budget_bytes=pair.kv_budget_bytes,
        completed=tally.completed,
        cancelled=tally.cancelled,
        failed=tally.failed,
        wasted_tokens=tally.wasted_tokens,
        evictions=pair.slots.evictions,
        device_bytes=_device_bytes(pair.target.device),
        notes=pair.notes,
    )


def _device_bytes(device: torch.device) -> int | None:
    """What tensors of this process hold on a GPU. A CPU's memory is the machine's: then what the process has of it."""
    if device.type == "cuda":
        return torch.cuda.memory_allocated(device)
    try:
        resident_pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:  # not Linux
        return None
    return resident_pages * os.sysconf("SC_PAGE_SIZE")
