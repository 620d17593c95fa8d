"""At most one engine per runtime folder.

The engine that holds the lock file is the one that runs; the system drops the lock however the process ends, so a
crash leaves nothing to clean up. Only the holder may touch the socket's path: a socket found there without its
engine is stale. The lock file itself is never removed, because a start that has it open would then lock a file that
nobody else sees. Knows nothing of what the engine does.
"""

import fcntl
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from completion_server.errors import SettingsError
from completion_server.paths import RuntimePaths

_TRIES: Final = 5
_PAUSE: Final = 0.01  # seconds between two tries for the lock, which `find_running` may hold for an instant


@dataclass(frozen=True, slots=True)
class Running:
    """The engine that was there first. `pid` is 0 in the instant before it has written its own."""

    pid: int
    pair: str

    def __str__(self) -> str:
        return f"the engine (process {self.pid or 'unknown'})"


@contextmanager
def claim(paths: RuntimePaths, pair: str) -> Iterator[socket.socket | Running]:
    """The listening socket of this process, bound and 0600, or the engine that already runs.

    Socket and lock are given up at the end. Raises `SettingsError` if the folder can't be used.
    """
    paths.create()
    lock = _open_lock(paths)
    try:
        if not _take(paths, lock):
            yield _read_holder(lock)
            return
        _write_holder(paths, lock, pair)
        listener = _bind(paths)
        try:
            yield listener
        finally:
            listener.close()
            with suppress(OSError):  # the next engine removes it
                paths.socket.unlink(missing_ok=True)
    finally:
        os.close(lock)


def find_running(paths: RuntimePaths) -> Running | None:
    """The engine that holds the lock, whether it answers or not; None if none does. Makes and changes nothing."""
    try:
        lock = os.open(paths.lock, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(lock)
    except OSError:  # a file system without locks: `claim` says so
        return None
    finally:
        os.close(lock)
    return None


def _open_lock(paths: RuntimePaths) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        lock = os.open(paths.lock, flags, 0o600)
    except OSError as error:
        raise SettingsError(f"cannot open {paths.lock} ({error.strerror})") from None
    if not stat.S_ISREG(os.fstat(lock).st_mode):
        os.close(lock)
        raise SettingsError(f"cannot open {paths.lock}: it is no file, remove it")
    return lock


def _take(paths: RuntimePaths, lock: int) -> bool:
    for tries_left in reversed(range(_TRIES)):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tries_left:
                time.sleep(_PAUSE)
        except OSError as error:
            raise SettingsError(f"cannot lock {paths.lock} ({error.strerror})") from None
        else:
            return True
    return False


def _bind(paths: RuntimePaths) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        paths.socket.unlink(missing_ok=True)
        listener.bind(os.fspath(paths.socket))
        # Before it listens, so that nobody can connect in between.
        paths.socket.chmod(0o600)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise SettingsError(f"cannot make the socket {paths.socket} ({error.strerror})") from None
    return listener


def _write_holder(paths: RuntimePaths, lock: int, pair: str) -> None:
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, json.dumps({"pid": os.getpid(), "pair": pair}).encode(), 0)
    except OSError as error:
        raise SettingsError(f"cannot write {paths.lock} ({error.strerror})") from None


def _read_holder(lock: int) -> Running:
    with suppress(ValueError, KeyError, TypeError):
        holder = json.loads(os.pread(lock, 4096, 0))
        return Running(pid=int(holder["pid"]), pair=str(holder["pair"]))
    return Running(pid=0, pair="")
