"""The way from a GGUF file to a folder of safetensors, complete or absent. The work itself is done by `models.gguf`."""

import shutil
from collections.abc import Callable
from pathlib import Path

from completion_server.errors import ForetypeError, ModelError, UnsupportedModel
from completion_server.pull.folder import is_complete
from completion_server.pull.progress import Progress

Convert = Callable[[Path, Path, Progress], None]
"""Reads a GGUF file and writes config, safetensors and tokenizer into an existing, empty folder."""


def convert_gguf(gguf: Path, out: Path, progress: Progress) -> None:
    """The `Convert` that is used outside tests. Raises ModelError if the engine's packages are not installed."""
    try:
        from completion_server.models.gguf import convert
    except ModuleNotFoundError as error:
        raise ModelError(
            f"reading GGUF files needs the engine's packages ({error.name} is missing): pip install 'foretype[engine]'"
        ) from error
    convert(gguf, out, progress)


def convert_into(final: Path, gguf: Path, scratch: Path, progress: Progress, convert: Convert) -> None:
    """Convert in `scratch`, on the same file system, and rename to `final`. Nothing to do if `final` is complete.

    Raises UnsupportedModel whatever stops the conversion, but for what the system refuses: that stays an OSError.
    """
    if is_complete(final):
        return
    shutil.rmtree(final, ignore_errors=True)
    out = scratch / "safetensors"
    out.mkdir()
    try:
        convert(gguf, out, progress)
    except ForetypeError:
        raise
    # A damaged file makes its reader stumble anywhere; readers also have errors of their own that derive from OSError.
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise UnsupportedModel(f"{gguf} is damaged or cannot be converted ({type(error).__name__})") from error
    out.replace(final)
