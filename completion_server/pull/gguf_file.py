"""A GGUF file of the user's: converted once, kept under the hash of its content.

So that a start need not read gigabytes to find the conversion, a small note per (path, size, time of change) says which
hash the file had. A file that changed has no note and must be pulled again.
"""

import hashlib
import stat
from pathlib import Path

from completion_server.errors import ModelNotFound, UnsupportedModel
from completion_server.pull.convert import Convert, convert_gguf, convert_into
from completion_server.pull.folder import is_complete
from completion_server.pull.progress import Progress
from completion_server.pull.store import models_folder, workplace

_MAGIC = b"GGUF"


def locate(gguf: Path) -> Path:
    """The conversion of `gguf`.

    Raises ModelNotFound if there is no such file or it was not pulled as it is now, UnsupportedModel if it is no file.
    """
    note = _note(gguf)
    if note.is_file():
        folder = _folder() / note.read_text(encoding="ascii")
        if is_complete(folder):
            return folder
    raise ModelNotFound(f"{gguf} is not converted yet: run `foretype pull {gguf}`")


def pull(gguf: Path, progress: Progress, convert: Convert = convert_gguf) -> Path:
    """Convert `gguf` unless that was done; returns the folder. Raises ModelNotFound, UnsupportedModel."""
    note = _note(gguf)
    try:
        return locate(gguf)
    except ModelNotFound:
        pass
    with workplace(_folder(), progress) as scratch:
        progress("reading", 0.0)
        digest = _sha256(gguf)
        convert_into(_folder() / digest, gguf, scratch, progress, convert)
        written = scratch / "note"
        written.write_text(digest, encoding="ascii")
        note.parent.mkdir(exist_ok=True)
        written.replace(note)
    return locate(gguf)


def _folder() -> Path:
    return models_folder() / "gguf"


def _note(gguf: Path) -> Path:
    try:
        status = gguf.stat()
    except OSError as error:
        raise ModelNotFound(f"there is no file {gguf}") from error
    if not stat.S_ISREG(status.st_mode):
        raise UnsupportedModel(f"{gguf} is no file")
    key = hashlib.sha256(f"{gguf}\0{status.st_size}\0{status.st_mtime_ns}".encode()).hexdigest()
    return _folder() / "notes" / key


def _sha256(gguf: Path) -> str:
    try:
        with gguf.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise UnsupportedModel(f"{gguf} is not a GGUF file")
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelNotFound(f"{gguf} cannot be read ({error.strerror})") from error
