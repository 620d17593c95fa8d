"""The engine behind a replay: a private one whose loading is shown, and what is said of it in the report."""

from collections.abc import Sequence
from typing import Any

from rich.progress import Progress

from bench.private_engine import PrivateEngine
from completion_server.protocol import State, StatusReply


def engine_for(pair: str, progress: Progress, command: Sequence[str], *, dtype: str = "auto") -> PrivateEngine:
    """Not entered yet. `command` replaces the engine's command line if it is not empty."""
    task = progress.add_task("engine", total=1.0)

    def show(state: State) -> None:
        progress.update(task, description=state.detail or state.phase, completed=state.fraction or 0.0)

    return PrivateEngine(pair, dtype=dtype, command=command, on_state=show)


def served(status: StatusReply) -> dict[str, Any]:
    """What served a replay, as JSON values."""
    return {
        "pair": status.state.pair,
        "target": status.target,
        "draft": status.draft,
        "drafters": list(status.drafters),
        "device": status.device,
        "dtype": status.dtype,
    }
