"""The engine on a thread of its own: the `Backend` behind a real server.

Nothing heavy is imported here: torch, transformers and the models come in on the engine's thread, so that the socket
answers ("loading") within a fraction of a second. The event loop only ever registers a job, sets a flag or wakes the
thread. Which models are loaded is `resident`'s business, how another pair gets here `switch`'s. Knows nothing of
sockets.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from completion_server.backend import Reply, Snapshot
from completion_server.engine.candidate import Candidate, Find, Load
from completion_server.engine.job import Job, JobRegistry
from completion_server.engine.openmp import settle_threads
from completion_server.engine.resident import Resident
from completion_server.engine.switch import Switch
from completion_server.engine.turns import Turns
from completion_server.errors import ForetypeError, Overloaded, SettingsError, type_and_place
from completion_server.protocol import Cancelled, Complete, Error, State, Usage, UsePair, Warm

if TYPE_CHECKING:
    from completion_server.engine.engine import Engine

log = logging.getLogger(__name__)

LONGEST_SLEEP_S = 3600.0


def no_other(name: str) -> Candidate:
    """A `Find` for an engine that has only the pair it was started with."""
    raise SettingsError(f"this engine cannot switch to {name!r}")


class EngineThread:
    """Loads an engine on its thread, feeds it jobs, unloads it when idle. Implements `backend.Backend`."""

    def __init__(
        self,
        pair: str,
        load: Load,
        *,
        find: Find = no_other,
        turns: Turns | None = None,
        max_queue: int = 64,
        unload_after_s: float = 600.0,
    ) -> None:
        """`pair` is the name to show, `find` knows the others; `turns` are shared with what loads them.

        `unload_after_s` = 0 keeps the models for ever.
        """
        self._unload_after_s = unload_after_s
        self._jobs = JobRegistry(max_queue)
        self._inbox: queue.SimpleQueue[Job | Callable[[], None]] = queue.SimpleQueue()
        self._state = State("starting", pair)
        self._on_state: Callable[[State], None] = lambda _: None
        self._models = Resident(pair, load, self._set_state)
        self._switch = Switch(find, self._inbox.put, self._show_progress)
        self._turns = turns or Turns()
        self._last_active = time.monotonic()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="foretype-engine", daemon=True)

    # -- called by the server ------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self._state

    @property
    def failure(self) -> ForetypeError | None:
        """Why the models could not be loaded at the last try; None if they could."""
        return self._models.failure

    def start(self, on_state: Callable[[State], None]) -> None:
        self._on_state = on_state
        self._thread.start()

    def submit(self, client: int, request: Complete | Warm, received: float, reply: Reply) -> None:
        if self._stopping:
            reply(Cancelled(request.id, "shutdown", Usage()))
            return
        try:
            self._inbox.put(self._jobs.open(client, request, received, reply))
        except Overloaded as error:
            reply(Error(request.id, error.code, str(error)))
        self._answer_cancelled_while_loading()  # a newer key may have superseded an older one

    def use_pair(self, request: UsePair, reply: Reply) -> None:
        if self._stopping:
            reply(Cancelled(request.id, "shutdown", Usage()))
            return
        self._switch.ask(request, reply, in_use=self._models.pair if self.failure is None else None)

    def cancel(self, client: int, request_id: int) -> None:
        self._jobs.cancel(client, request_id)
        self._answer_cancelled_while_loading()

    def close_document(self, client: int, document: str) -> None:
        self._inbox.put(lambda: self._engine.close_document(client, document) if self._engine else None)

    def disconnect(self, client: int) -> None:
        self._jobs.cancel_client(client)
        self._inbox.put(lambda: self._engine.disconnect(client) if self._engine else None)

    def idle_seconds(self) -> float:
        return 0.0 if len(self._jobs) or self._switch.under_way else time.monotonic() - self._last_active

    def snapshot(self) -> Snapshot:
        return self._models.snapshot()

    def stop(self, timeout: float) -> None:
        self._stopping = True
        self._switch.give_up()
        self._jobs.cancel_all()
        self._answer_cancelled_while_loading()
        self._inbox.put(lambda: None)
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _answer_cancelled_while_loading(self) -> None:
        """The engine's thread cannot see a flag while it loads, so the event loop answers for it."""
        if self._engine is None:
            for job in self._jobs.open_jobs():
                if job.cancelled is not None:
                    job.finish(Cancelled(job.request.id, job.cancelled, Usage()))

    # -- on the engine's thread ----------------------------------------------------------------------------------

    @property
    def _engine(self) -> "Engine | None":
        return self._models.engine

    @property
    def _busy(self) -> bool:
        return self._engine is not None and self._engine.busy

    def _run(self) -> None:
        settle_threads()
        self._models.ensure()
        self._last_active = time.monotonic()
        while not self._stopping:
            try:
                self._turn()
            except Exception as error:  # a fault of the engine itself: without this thread no request would be answered
                self._give_up(error)
        self._answer_all_that_is_open()
        self._set_state(State("stopping", self._models.pair))

    def _turn(self) -> None:
        if self._switch.due(busy=self._busy):
            self._change_pair()
        self._take_in()
        if self._step():
            self._last_active = time.monotonic()

    def _step(self) -> bool:
        with self._turns.first():
            return self._engine is not None and self._engine.step()

    def _change_pair(self) -> None:
        """What runs ends on the old pair; what comes meanwhile waits in the inbox."""
        began = time.perf_counter()
        while self._busy:
            self._step()
        prepared, self._switch.prepared = self._switch.prepared, None
        if prepared is None or self._stopping:
            return
        try:
            self._models.exchange(prepared.candidate, prepared.engine)
        except ForetypeError as error:
            self._switch.failed(error)
        else:
            self._switch.done(self._models.pair, 1e3 * (time.perf_counter() - began))
        self._last_active = time.monotonic()

    def _give_up(self, error: Exception) -> None:
        """Answer all that is open with an error and drop the engine; the next request loads it anew."""
        log.error("the engine failed: %s", type_and_place(error))
        self._models.drop()
        failure = ForetypeError(f"the engine failed ({type_and_place(error)})")
        for job in self._jobs.open_jobs():
            job.finish(Error(job.request.id, failure.code, str(failure)))
        self._set_state(State("unloaded", self._models.pair, str(failure)))

    def _take_in(self) -> None:
        """Hand waiting jobs to the engine; sleep only when there is nothing to compute."""
        busy = self._busy
        try:
            item = self._inbox.get_nowait() if busy else self._inbox.get(timeout=self._patience())
        except queue.Empty:
            if not busy:
                self._idle()
            return
        while True:
            self._accept(item)
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                return

    def _accept(self, item: Job | Callable[[], None]) -> None:
        if not isinstance(item, Job):
            item()
            return
        if not self._jobs.is_open(item):
            return
        if item.cancelled is not None:
            item.finish(Cancelled(item.request.id, item.cancelled, Usage()))
            return
        engine = self._models.ensure()
        self._last_active = time.monotonic()
        if engine is None:
            failure = self.failure or ForetypeError("the models are not loaded")
            item.finish(Error(item.request.id, failure.code, str(failure)))
        else:
            engine.add(item)

    def _patience(self) -> float | None:
        """Seconds that may be slept: until a suggestion is to be continued or the models are to be unloaded."""
        if self._engine is None:
            return None
        rest = self._engine.rest_s
        if rest is not None:
            return min(LONGEST_SLEEP_S, rest)
        if not self._unload_after_s:
            return None
        return min(LONGEST_SLEEP_S, max(0.05, self._unload_after_s - (time.monotonic() - self._last_active)))

    def _idle(self) -> None:
        if self._engine is not None and time.monotonic() - self._last_active >= self._unload_after_s > 0:
            self._models.unload("unloaded while idle; the next request loads it again")

    def _answer_all_that_is_open(self) -> None:
        if self._engine is not None and self._engine.busy:
            self._engine.step()  # answers what was cancelled; computes nothing
        while True:
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                return
            if isinstance(item, Job):
                item.finish(Cancelled(item.request.id, item.cancelled or "shutdown", Usage()))

    def _show_progress(self, detail: str, fraction: float | None) -> None:
        """Of a switch. The phase stays what it is, so that front ends go on asking."""
        if self._state.phase in ("ready", "unloaded"):
            self._set_state(replace(self._state, detail=detail, fraction=fraction))

    def _set_state(self, state: State) -> None:
        self._state = state
        self._on_state(state)
