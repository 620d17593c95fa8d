"""The engine on a thread of its own: the `Backend` behind a real server.

Nothing heavy is imported here: torch, transformers and the models come in on the engine's thread, so that the socket
answers ("loading") within a fraction of a second. The event loop only ever registers a job, sets a flag or wakes the
thread. Knows nothing of sockets, and of models only how to load and drop them.
"""

from __future__ import annotations

import gc
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from completion_server.backend import Reply, Snapshot
from completion_server.engine.job import Job, JobRegistry
from completion_server.engine.openmp import settle_threads
from completion_server.errors import ForetypeError, Overloaded, type_and_place
from completion_server.protocol import Cancelled, Complete, Error, State, Usage, Warm

if TYPE_CHECKING:
    from completion_server.engine.engine import Engine

log = logging.getLogger(__name__)

Load = Callable[[Callable[[str, float], None]], "Engine"]
"""Loads models and returns an engine that is ready; takes a callback for (what is being done, share done 0..1)."""

RETRY_LOAD_S = 10.0
LONGEST_SLEEP_S = 3600.0


class EngineThread:
    """Loads an engine on its thread, feeds it jobs, unloads it when idle. Implements `backend.Backend`."""

    def __init__(self, pair: str, load: Load, *, max_queue: int = 64, unload_after_s: float = 600.0) -> None:
        """`pair` is the name to show; `unload_after_s` = 0 keeps the models for ever."""
        self._pair = pair
        self._load = load
        self._unload_after_s = unload_after_s
        self._jobs = JobRegistry(max_queue)
        self._inbox: queue.SimpleQueue[Job | Callable[[], None]] = queue.SimpleQueue()
        self._state = State("starting", pair)
        self._on_state: Callable[[State], None] = lambda _: None
        self._engine: Engine | None = None
        self._before = Snapshot()  # totals of engines that were dropped
        self._failed_at: float | None = None
        self._failure: ForetypeError | None = None
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
        return self._failure

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

    def cancel(self, client: int, request_id: int) -> None:
        self._jobs.cancel(client, request_id)
        self._answer_cancelled_while_loading()

    def close_document(self, client: int, document: str) -> None:
        self._inbox.put(lambda: self._engine.close_document(client, document) if self._engine else None)

    def disconnect(self, client: int) -> None:
        self._jobs.cancel_client(client)
        self._inbox.put(lambda: self._engine.disconnect(client) if self._engine else None)

    def idle_seconds(self) -> float:
        return 0.0 if len(self._jobs) else time.monotonic() - self._last_active

    def snapshot(self) -> Snapshot:
        engine = self._engine
        return self._before if engine is None else engine.snapshot().after(self._before)

    def stop(self, timeout: float) -> None:
        self._stopping = True
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

    def _run(self) -> None:
        settle_threads()
        self._ensure_loaded()
        while not self._stopping:
            try:
                self._turn()
            except Exception as error:  # a fault of the engine itself: without this thread no request would be answered
                self._give_up(error)
        self._answer_all_that_is_open()
        self._set_state(State("stopping", self._pair))

    def _turn(self) -> None:
        self._take_in()
        if self._engine is not None and self._engine.step():
            self._last_active = time.monotonic()

    def _give_up(self, error: Exception) -> None:
        """Answer all that is open with an error and drop the engine; the next request loads it anew."""
        log.error("the engine failed: %s", type_and_place(error))
        self._drop_engine()
        failure = ForetypeError(f"the engine failed ({type_and_place(error)})")
        for job in self._jobs.open_jobs():
            job.finish(Error(job.request.id, failure.code, str(failure)))
        self._set_state(State("unloaded", self._pair, str(failure)))

    def _take_in(self) -> None:
        """Hand waiting jobs to the engine; sleep only when there is nothing to compute."""
        busy = self._engine is not None and self._engine.busy
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
        engine = self._ensure_loaded()
        if engine is None:
            failure = self._failure or ForetypeError("the models are not loaded")
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
            self._drop_engine()
            _give_back_memory()
            self._set_state(State("unloaded", self._pair, "unloaded while idle; the next request loads it again"))

    def _drop_engine(self) -> None:
        """The models go; what was counted stays."""
        if self._engine is not None:
            self._before = self._engine.snapshot().after(self._before).totals()
            self._engine = None

    def _ensure_loaded(self) -> Engine | None:
        if self._engine is not None:
            return self._engine
        if self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_LOAD_S:
            return None
        try:
            self._set_state(State("loading", self._pair, "starting", 0.0))
            self._engine = self._load(lambda detail, done: self._set_state(State("loading", self._pair, detail, done)))
        except Exception as error:  # whatever a model folder can throw must not end the process
            self._fail(error)
            return None
        self._failed_at = self._failure = None
        self._pair = self._engine.pair.name
        self._last_active = time.monotonic()
        self._set_state(State("ready", self._pair, self._engine.description))
        return self._engine

    def _fail(self, error: Exception) -> None:
        if isinstance(error, ForetypeError):
            log.error("loading %s failed: %s", self._pair, error)
            self._failure = error
        else:
            log.error("loading %s failed: %s", self._pair, type(error).__name__, exc_info=error)
            self._failure = ForetypeError(
                f"loading failed with {type(error).__name__}; the engine's log has the details"
            )
        self._failed_at = time.monotonic()
        self._set_state(State("failed", self._pair, str(self._failure)))

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

    def _set_state(self, state: State) -> None:
        self._state = state
        self._on_state(state)


def _give_back_memory() -> None:
    """Collect the models at once, not at some later time, and let a GPU have its memory back."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
