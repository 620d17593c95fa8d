"""One engine per folder, and nothing to clean up after a crash."""

import errno
import fcntl
import os
import socket
import stat
import time

import pytest

from completion_server.errors import SettingsError
from completion_server.instance import Running, claim, find_running
from completion_server.paths import RuntimePaths


def test_second_claim_finds_the_first(runtime: RuntimePaths) -> None:
    with claim(runtime, "embedded") as first, claim(runtime, "other") as second:
        assert isinstance(first, socket.socket)
        assert second == Running(os.getpid(), "embedded")


def test_second_claim_leaves_the_first_its_socket(runtime: RuntimePaths) -> None:
    with claim(runtime, "embedded") as listener:
        assert isinstance(listener, socket.socket)
        listener.listen()
        with claim(runtime, "other"):
            pass
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(os.fspath(runtime.socket))


def test_end_of_the_claim_frees_the_folder(runtime: RuntimePaths) -> None:
    with claim(runtime, "embedded"):
        assert runtime.socket.exists()
    assert not runtime.socket.exists()
    with claim(runtime, "embedded") as again:
        assert isinstance(again, socket.socket)


def test_stale_socket_is_replaced(runtime: RuntimePaths) -> None:
    runtime.create()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(os.fspath(runtime.socket))
        stale = runtime.socket.stat().st_ino
        with claim(runtime, "embedded") as listener:
            assert isinstance(listener, socket.socket)
            assert runtime.socket.stat().st_ino != stale
            listener.listen()
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(os.fspath(runtime.socket))


def test_socket_and_lock_are_for_the_user_alone(runtime: RuntimePaths) -> None:
    old = os.umask(0)
    try:
        with claim(runtime, "embedded"):
            assert stat.S_IMODE(runtime.socket.stat().st_mode) == 0o600
            assert stat.S_IMODE(runtime.lock.stat().st_mode) == 0o600
    finally:
        os.umask(old)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x", "pair": ""}', '{"pid": 5}'])
def test_holder_that_has_not_written_its_name_is_found_all_the_same(runtime: RuntimePaths, content: str) -> None:
    with claim(runtime, "embedded"):
        runtime.lock.write_text(content)
        with claim(runtime, "other") as second:
            assert second == Running(0, "")


def test_something_else_in_the_place_of_the_socket_is_an_error(runtime: RuntimePaths) -> None:
    runtime.create()
    runtime.socket.mkdir()
    with pytest.raises(SettingsError, match="cannot make the socket"), claim(runtime, "embedded"):
        pass
    runtime.socket.rmdir()
    with claim(runtime, "embedded") as listener:
        assert isinstance(listener, socket.socket)


def test_lock_that_is_a_link_is_not_followed(runtime: RuntimePaths) -> None:
    runtime.create()
    victim = runtime.folder / "victim"
    victim.write_text("keep")
    runtime.lock.symlink_to(victim)
    with pytest.raises(SettingsError, match="cannot open"), claim(runtime, "embedded"):
        pass
    assert victim.read_text() == "keep"
    runtime.lock.unlink()


def test_lock_that_is_no_file_is_named(runtime: RuntimePaths) -> None:
    runtime.create()
    os.mkfifo(runtime.lock)
    with pytest.raises(SettingsError, match=r"cannot open .*engine\.lock: it is no file"), claim(runtime, "embedded"):
        pass
    assert find_running(runtime) is None


def test_lock_that_cannot_be_written_is_named(runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(SettingsError, match=r"cannot write .*engine\.lock \(No space left"), claim(runtime, "embedded"):
        pass
    assert find_running(runtime) is None


def test_running_engine_is_found_without_a_claim(runtime: RuntimePaths) -> None:
    assert find_running(runtime) is None
    assert not runtime.folder.exists()
    with claim(runtime, "embedded"):
        assert find_running(runtime) == find_running(runtime) == Running(os.getpid(), "embedded")
    assert find_running(runtime) is None


def test_claim_outlasts_a_look_at_the_lock(runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.create()
    runtime.lock.touch()
    looking = os.open(runtime.lock, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr(time, "sleep", lambda _seconds: fcntl.flock(looking, fcntl.LOCK_UN))
    with claim(runtime, "embedded") as claimed:
        assert isinstance(claimed, socket.socket)
    os.close(looking)


def test_file_system_without_locks_is_named(runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(SettingsError, match=r"cannot lock .*engine\.lock \(No locks"), claim(runtime, "embedded"):
        pass
    assert find_running(runtime) is None
