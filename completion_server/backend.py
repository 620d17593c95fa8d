"""What a server needs from an engine: the seam between sockets and models.

Two implementations: `engine.thread.EngineThread` (models) and `scripted.ScriptedBackend` (a fake that says what a test
or a demonstration wrote down). Torch-free; knows nothing of sockets.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from completion_server.protocol import Complete, EngineMessage, State, UsePair, Warm

Reply = Callable[[EngineMessage], None]
"""Takes `Delta`s and then exactly one last reply of a request. May be called from any thread; returns at once."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counters and facts for `StatusReply`; numbers are totals since the engine process started."""

    device: str = ""
    dtype: str = ""
    target: str = ""
    draft: str | None = None
    drafters: tuple[str, ...] = ()
    running: int = 0
    queued: int = 0
    slots_used: int = 0
    slots_total: int = 0
    kv_bytes: int = 0
    kv_budget_bytes: int = 0
    completed: int = 0
    cancelled: int = 0
    failed: int = 0
    wasted_tokens: int = 0
    evictions: int = 0  # documents whose keys and values made room for others
    device_bytes: int | None = None  # that the models (on a CPU: all of this process) hold there; None: nobody counts
    notes: tuple[str, ...] = field(default=())  # warnings that a person should see, e.g. a family without its tokens

    def totals(self) -> "Snapshot":
        """What stays when the models are unloaded."""
        return Snapshot(
            completed=self.completed,
            cancelled=self.cancelled,
            failed=self.failed,
            wasted_tokens=self.wasted_tokens,
            evictions=self.evictions,
        )

    def after(self, before: "Snapshot") -> "Snapshot":
        """With the totals of `before` added: of the models that were loaded earlier."""
        return replace(
            self,
            completed=self.completed + before.completed,
            cancelled=self.cancelled + before.cancelled,
            failed=self.failed + before.failed,
            wasted_tokens=self.wasted_tokens + before.wasted_tokens,
            evictions=self.evictions + before.evictions,
        )


class Backend(Protocol):
    """Called from the event-loop thread of the server; no method blocks except `stop`."""

    @property
    def state(self) -> State: ...

    def start(self, on_state: Callable[[State], None]) -> None:
        """Begin loading. `on_state` is called at every change of `state`, from any thread."""

    def submit(self, client: int, request: Complete | Warm, received: float, reply: Reply) -> None:
        """Take a request. `received` is `time.perf_counter()` when its frame was complete.

        Every request gets exactly one last reply, errors (`Overloaded`, a failed load) too: nothing is raised here.
        A newer `Complete` for the same (client, document) supersedes the older one.
        """

    def use_pair(self, request: UsePair, reply: Reply) -> None:
        """Load another pair and answer with it from then on; `reply` gets one `PairInUse`, `Error` or `Cancelled`.

        Requests lose nothing: each is answered by the pair in use when it begins. Where the other pair cannot be
        loaded the one in use goes on. One switch at a time: another one is refused.
        """

    def cancel(self, client: int, request_id: int) -> None:
        """Seen by the engine between any two passes. Unknown ids are ignored."""

    def close_document(self, client: int, document: str) -> None: ...

    def disconnect(self, client: int) -> None:
        """Cancel all that this client has running and forget its documents."""

    def idle_seconds(self) -> float:
        """Seconds since the last request ended; 0 while one runs or waits."""

    def snapshot(self) -> Snapshot: ...

    def stop(self, timeout: float) -> None:
        """Answer what is open with `Cancelled(reason="shutdown")` and end.

        Blocks at most `timeout` seconds; may be called from any thread.
        """
