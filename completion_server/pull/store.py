"""The folder of pulled models: complete entries or none, whatever is interrupted, however many pull at once.

An entry is built in a scratch folder beside its final place and renamed when it is whole. Leftovers of a pull that was
killed are removed by the next one, which is safe because both hold the same lock. Knows nothing of models.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from completion_server.errors import SettingsError
from completion_server.folders import cache_folder
from completion_server.pull.progress import Progress

_SCRATCH = ".unfinished-"


def models_folder() -> Path:
    return cache_folder() / "models"


@contextmanager
def workplace(folder: Path, progress: Progress) -> Iterator[Path]:
    """Hold the lock of `folder` (made if missing) and give an empty scratch folder in it, removed at the end.

    If another process has the lock, says so and waits for it. Raises SettingsError if the system refuses to make or
    write something there, also while the scratch folder is in use.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / ".lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            progress("waiting for another pull", 0.0)
            lock.acquire()
        for leftover in folder.glob(f"{_SCRATCH}*"):
            shutil.rmtree(leftover)
        with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=folder) as scratch:
            yield Path(scratch)
    except OSError as error:
        raise SettingsError(
            f"cannot write to {folder} ({error.strerror or type(error).__name__}): make room there, "
            "or set FORETYPE_CACHE_DIR to another folder"
        ) from error
    finally:
        lock.release()
