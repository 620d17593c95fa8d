"""The life of the engine's process around a backend.

It claims the runtime folder, accepts clients before the backend has loaded anything, and ends on a signal, a client's
`Shutdown`, after idle time or with the process that started it. The end takes a few seconds at most, whatever the
backend does. Knows nothing of messages (see `hub`) and models.
"""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from completion_server.backend import Backend
from completion_server.hub import Hub
from completion_server.instance import Running, claim
from completion_server.numbers.recorder import Recorder
from completion_server.paths import RuntimePaths, runtime_paths

logger = logging.getLogger(__name__)

_USELESS_INTERVAL: Final = 2.0
_PARENT_INTERVAL: Final = 0.5


async def serve(
    backend: Backend,
    *,
    pair: str,
    paths: RuntimePaths | None = None,
    exit_after_idle_s: float | None = 1_800.0,
    parent_pid: int | None = None,
    recording: Callable[[], AbstractContextManager[Recorder | None]] = nullcontext,
) -> Running | None:
    """Run an engine until it is told to end; must be awaited in the main thread, because it takes over the signals.

    Returns None after it has run, or the engine that already runs in this folder; then `backend` was not started.
    `pair` is what a second start is told about this one. `exit_after_idle_s` None means never. With `parent_pid` the
    engine ends when that process, its parent, has ended; take `os.getppid()` first thing in `main`. It also ends, a few
    seconds later, when the backend could not load its models. `recording` is entered while the engine runs and gives
    the recorder that hears of every answered request.
    Raises `SettingsError` if the runtime folder can't be used.
    """
    with claim(paths or runtime_paths(), pair) as claimed:
        if isinstance(claimed, Running):
            return claimed
        with recording() as recorder:
            await _run(Hub(backend, recorder), claimed, exit_after_idle_s, parent_pid)
    return None


async def _run(hub: Hub, listener: socket.socket, exit_after_idle_s: float | None, parent_pid: int | None) -> None:
    watchers = []
    with _signals_end(hub):
        try:
            await hub.start(listener)
            watchers.append(asyncio.create_task(_end_if_useless(hub)))
            if exit_after_idle_s is not None:
                watchers.append(asyncio.create_task(_end_when_idle(hub, exit_after_idle_s)))
            if parent_pid is not None:
                watchers.append(asyncio.create_task(_end_with_parent(hub, parent_pid)))
            logger.info("engine %d takes clients and loads its models", os.getpid())
            await hub.wait_for_end()
        finally:
            for watcher in watchers:
                watcher.cancel()
            await hub.stop()


@contextmanager
def _signals_end(hub: Hub) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    # An ignored signal stays ignored: that is what nohup asks for.
    caught = [
        number
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    for number in caught:
        loop.add_signal_handler(number, hub.end, number.name)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)


async def _end_when_idle(hub: Hub, limit: float) -> None:
    while (remaining := limit - hub.idle_seconds()) > 0:  # noqa: ASYNC110 (idleness is asked for, not announced)
        await asyncio.sleep(remaining)
    hub.end(f"idle for {limit:g} s")


async def _end_if_useless(hub: Hub) -> None:
    """An engine that cannot load its models holds the place of one that could; its clients have been told why."""
    while not hub.useless:  # noqa: ASYNC110
        await asyncio.sleep(_USELESS_INTERVAL)
    await asyncio.sleep(_USELESS_INTERVAL)
    hub.end("the models could not be loaded")


async def _end_with_parent(hub: Hub, parent: int) -> None:
    """Ask the system now and then: Linux's parent-death signal follows the thread that forked, not the process."""
    while os.getppid() == parent:  # noqa: ASYNC110
        await asyncio.sleep(_PARENT_INTERVAL)
    hub.end("the process that started this engine has ended")
