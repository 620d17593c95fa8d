"""Who supersedes whom, and that a job is answered once."""

import threading
from typing import Any

import pytest

from completion_server.engine.job import Job, JobRegistry
from completion_server.errors import Overloaded
from completion_server.protocol import Cancelled, Complete, Context, Usage, Warm


def complete(id_: int, document: str = "a.py") -> Complete:
    return Complete(id_, Context(document, 1, "x", ""))


def warm(id_: int, document: str = "a.py") -> Warm:
    return Warm(id_, Context(document, 1, "x", ""))


def open_job(registry: JobRegistry, client: int, request: Complete | Warm, replies: list[Any] | None = None) -> Job:
    return registry.open(client, request, 0.0, [].append if replies is None else replies.append)


def test_a_newer_key_of_a_document_supersedes_the_older() -> None:
    registry = JobRegistry(limit=9)
    old, other_document = open_job(registry, 1, complete(1)), open_job(registry, 1, complete(2, "b.py"))
    other_client = open_job(registry, 2, complete(1))
    new = open_job(registry, 1, complete(3))
    assert [job.cancelled for job in (old, other_document, other_client, new)] == ["superseded", None, None, None]


def test_any_key_of_a_client_overtakes_its_warm_ups() -> None:
    registry = JobRegistry(limit=9)
    mine, others = open_job(registry, 1, warm(1, "b.py")), open_job(registry, 2, warm(1, "b.py"))
    open_job(registry, 1, complete(2, "a.py"))
    assert [mine.cancelled, others.cancelled] == ["superseded", None]


def test_a_warm_up_never_cancels_a_key() -> None:
    registry = JobRegistry(limit=9)
    key, first = open_job(registry, 1, complete(1)), open_job(registry, 1, warm(2))
    second = open_job(registry, 1, warm(3))
    assert [key.cancelled, first.cancelled, second.cancelled] == [None, "superseded", None]


def test_the_limit_counts_what_still_wants_an_answer() -> None:
    registry = JobRegistry(limit=2)
    open_job(registry, 1, complete(1, "a.py"))
    open_job(registry, 1, complete(2, "b.py"))
    with pytest.raises(Overloaded, match="try again"):
        open_job(registry, 1, complete(3, "c.py"))
    open_job(registry, 1, complete(4, "b.py"))  # supersedes, so there is room
    assert len(registry) == 3


def test_one_client_cannot_fill_the_queue_for_others() -> None:
    registry = JobRegistry(limit=20)
    for number in range(5):
        open_job(registry, 1, complete(number, f"{number}.py"))
    with pytest.raises(Overloaded, match="this client has 5 requests open"):
        open_job(registry, 1, complete(9, "9.py"))
    with pytest.raises(Overloaded):
        open_job(registry, 1, warm(9, "9.py"))
    for client in (2, 3, 4):
        for number in range(5):
            open_job(registry, client, complete(number, f"{number}.py"))
    with pytest.raises(Overloaded, match="the engine has too many"):
        open_job(registry, 5, complete(1))


def test_cancel_by_request_and_by_client() -> None:
    registry = JobRegistry(limit=9)
    a, b, c = (open_job(registry, client, complete(1, f"{client}.py")) for client in (1, 2, 3))
    registry.cancel(1, 1)
    registry.cancel(1, 99)
    registry.cancel_client(2)
    assert [a.cancelled, b.cancelled, c.cancelled] == ["client", "client", None]
    assert registry.open_jobs() == [a, b, c]
    registry.cancel_all()
    assert [a.cancelled, c.cancelled] == ["client", "shutdown"]


def test_two_threads_that_both_answer_send_one_reply() -> None:
    for _ in range(200):
        registry, replies = JobRegistry(limit=9), []
        job = open_job(registry, 1, complete(1), replies)
        barrier = threading.Barrier(2)

        def answer(job: Job = job, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            job.finish(Cancelled(1, "client", Usage()))

        threads = [threading.Thread(target=answer) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(replies) == 1
        assert len(registry) == 0
