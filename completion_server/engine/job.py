"""One request on its way through the engine, and the registry of those that are alive.

The event-loop thread creates and cancels jobs, the engine thread works on them: `cancelled` is the only field that
both write to, and it only ever goes from None to a reason. Knows nothing of tokens or passes.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from completion_server.backend import Reply
from completion_server.errors import Overloaded
from completion_server.protocol import Complete, EngineMessage, Warm

LEAST_PER_CLIENT = 4

CancelReason = Literal["client", "superseded", "shutdown"]


@dataclass(slots=True, eq=False)
class Job:
    """`received` is `time.perf_counter()` of the moment when the request's frame was complete."""

    key: int
    client: int
    request: Complete | Warm
    received: float
    reply: Reply
    on_close: Callable[["Job"], bool]
    cancelled: CancelReason | None = None

    @property
    def document(self) -> tuple[int, str]:
        return self.client, self.request.context.document

    @property
    def background(self) -> bool:
        return isinstance(self.request, Warm)

    def cancel(self, reason: CancelReason) -> None:
        """Ask the engine to stop before its next pass; the first reason stays."""
        if self.cancelled is None:
            self.cancelled = reason

    def finish(self, message: EngineMessage) -> None:
        """Send the last reply, unless it was sent: whoever closes the job first, from whatever thread, answers it."""
        if self.on_close(self):
            self.reply(message)


class JobRegistry:
    """The jobs that have not had their last reply. Safe to use from any thread."""

    def __init__(self, limit: int) -> None:
        """At most `limit` jobs at a time want an answer, and a quarter of that (at least 4) of one client."""
        self._limit = limit
        self._client_limit = max(LEAST_PER_CLIENT, limit // 4)
        self._jobs: dict[int, Job] = {}
        self._lock = threading.Lock()
        self._next_key = 1

    def __len__(self) -> int:
        return len(self._jobs)

    def open(self, client: int, request: Complete | Warm, received: float, reply: Reply) -> Job:
        """Register a request. Raises Overloaded if there are too many already, of all clients or of this one.

        A newer request for the same document supersedes the older one, and any `Complete` of a client the warm-ups
        of that client: a person typing is never behind a guess about where they will type.
        """
        with self._lock:
            for other in self._jobs.values():
                same_document = other.document == (client, request.context.document)
                overtaken = other.background and other.client == client and isinstance(request, Complete)
                if overtaken or (same_document and (other.background or isinstance(request, Complete))):
                    other.cancel("superseded")
            waiting = [job.client for job in self._jobs.values() if job.cancelled is None]
            if waiting.count(client) >= self._client_limit:
                raise Overloaded(
                    f"this client has {self._client_limit} requests open, as many as it may; cancel one or wait"
                )
            if len(waiting) >= self._limit:
                raise Overloaded("the engine has too many requests waiting; try again in a moment")
            job = Job(self._next_key, client, request, received, reply, self.close)
            self._next_key += 1
            self._jobs[job.key] = job
            return job

    def close(self, job: Job) -> bool:
        """Forget the job; False if it was closed before."""
        with self._lock:
            return self._jobs.pop(job.key, None) is not None

    def is_open(self, job: Job) -> bool:
        """Whether the job still waits for its last reply."""
        with self._lock:
            return job.key in self._jobs

    def open_jobs(self) -> list[Job]:
        """Those that were not answered yet."""
        with self._lock:
            return list(self._jobs.values())

    def cancel(self, client: int, request_id: int) -> None:
        with self._lock:
            for job in self._jobs.values():
                if job.client == client and job.request.id == request_id:
                    job.cancel("client")

    def cancel_client(self, client: int) -> None:
        with self._lock:
            for job in self._jobs.values():
                if job.client == client:
                    job.cancel("client")

    def cancel_all(self) -> None:
        with self._lock:
            for job in self._jobs.values():
                job.cancel("shutdown")
