"""Where the engine's socket, lock and log are, and whether that folder may be trusted.

The folder is `$FORETYPE_RUNTIME_DIR`, else the user's runtime folder of the operating system. It belongs to the user
alone (0700): that is what keeps other users of the machine away from the socket, before any byte is exchanged.
Knows nothing of processes and protocols.
"""

import os
import stat
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from completion_server.errors import SettingsError
from completion_server.folders import expanded

RUNTIME_DIR_VARIABLE: Final = "FORETYPE_RUNTIME_DIR"

_SOCKET_PATH_MAX: Final = 107 if sys.platform == "linux" else 103  # bytes of sun_path, less the closing zero


@dataclass(frozen=True, slots=True)
class RuntimePaths:
    """The files of one engine; every engine of a user has its own folder."""

    folder: Path

    @property
    def socket(self) -> Path:
        return self.folder / "engine.sock"

    @property
    def lock(self) -> Path:
        """Locked as long as an engine runs; holds its process id."""
        return self.folder / "engine.lock"

    @property
    def log(self) -> Path:
        """What a detached engine writes to stdout and stderr."""
        return self.folder / "engine.log"

    def create(self) -> None:
        """Make the folder, 0700. Raises `SettingsError` if it can't be made or can't be trusted."""
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                f"cannot make the runtime folder {self.folder} ({error.strerror}): set {RUNTIME_DIR_VARIABLE}"
            ) from None
        self.check()

    def check(self) -> None:
        """Raises `SettingsError` if the folder can't be trusted or the socket's path is too long for the system.

        Raises FileNotFoundError if there is no folder.
        """
        try:
            status = self.folder.lstat()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise SettingsError(
                f"cannot use the runtime folder {self.folder} ({error.strerror}): set {RUNTIME_DIR_VARIABLE}"
            ) from None
        if not stat.S_ISDIR(status.st_mode):
            raise SettingsError(f"the runtime folder {self.folder} is not a folder: set {RUNTIME_DIR_VARIABLE}")
        if status.st_uid != os.getuid():
            raise SettingsError(f"the runtime folder {self.folder} belongs to another user: set {RUNTIME_DIR_VARIABLE}")
        if mode := stat.S_IMODE(status.st_mode) & 0o077:
            raise SettingsError(
                f"the runtime folder {self.folder} is open to others (mode {mode | 0o700:04o}): chmod 700 it"
            )
        length = len(os.fsencode(self.socket))
        if length > _SOCKET_PATH_MAX:
            raise SettingsError(
                f"the socket's path {self.socket} has {length} bytes, the system allows {_SOCKET_PATH_MAX}: "
                f"set {RUNTIME_DIR_VARIABLE} to a shorter folder"
            )


def runtime_paths() -> RuntimePaths:
    """The paths that an engine and its clients use unless told otherwise. Makes nothing."""
    if folder := os.environ.get(RUNTIME_DIR_VARIABLE):
        return RuntimePaths(expanded(folder).absolute())
    # Imported here because an engine that runs from a plain checkout has no platformdirs.
    import platformdirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that XDG_RUNTIME_DIR is unset is nothing a user must act on
        return RuntimePaths(Path(platformdirs.user_runtime_dir("foretype")))
