"""Starting an engine that outlives the process that started it.

The new process has its own session, no terminal, and writes to a log file that only the user can read. Knows nothing of
the protocol: whether the engine answers is for `client` to find out.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import completion_server
from completion_server.errors import EngineUnavailable
from completion_server.instance import find_running
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths

_TAIL: Final = 4_096  # bytes of the log in which its last line is looked for
_LINE: Final = 300  # characters of it that are quoted


@dataclass(frozen=True, slots=True)
class Launched:
    """A process that was started and its log."""

    process: subprocess.Popen[bytes]
    log: Path

    def exit_code(self) -> int | None:
        """None while it runs. 0 means that another engine was there first."""
        return self.process.poll()

    def last_line(self) -> str:
        """What it wrote last; empty if nothing."""
        try:
            tail = self.log.read_bytes()[-_TAIL:]
        except OSError:
            return ""
        lines = [line.strip() for line in tail.decode(errors="replace").splitlines() if line.strip()]
        return lines[-1][:_LINE] if lines else ""


def launch(paths: RuntimePaths, *, pair: str | None = None, command: Sequence[str] | None = None) -> Launched:
    """Start `python -m completion_server serve`, or `command`, detached.

    Raises `EngineUnavailable` if there is no such program, `SettingsError` if the runtime folder can't be used.
    """
    paths.create()
    if command is None:
        command = [sys.executable, "-m", "completion_server", "serve", *(["--pair", pair] if pair else [])]
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    if find_running(paths) is None:
        flags |= os.O_TRUNC  # a log that is written for months must not grow for months
    try:
        log = os.open(paths.log, flags, 0o600)
        try:
            # On a full disk the new process could not say what is wrong: this says it here.
            os.write(log, b"\n")
            process = subprocess.Popen(
                command,
                # Python puts the current folder on its import path: that must not be the folder of somebody's project.
                cwd=paths.folder,
                env=_environment(paths),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        finally:
            os.close(log)
    except OSError as error:
        raise EngineUnavailable(f"cannot start the engine with its log {paths.log} ({error.strerror})") from None
    # Collects the exit status whenever the engine ends, so that it does not stay behind as a zombie.
    threading.Thread(target=process.wait, name="await-engine", daemon=True).start()
    return Launched(process, paths.log)


def _environment(paths: RuntimePaths) -> dict[str, str]:
    environment = {**os.environ, RUNTIME_DIR_VARIABLE: os.fspath(paths.folder)}
    root = Path(completion_server.__file__).resolve().parents[1]
    if root.name not in ("site-packages", "dist-packages"):
        # A checkout that is not installed: the child's current folder is another one than ours.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (os.fspath(root), os.environ.get("PYTHONPATH"))))
    return environment
