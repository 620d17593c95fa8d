"""Which files the benches read: those that are named, else modules of the standard library, the same everywhere."""

import sysconfig
from collections.abc import Sequence
from glob import glob
from pathlib import Path

from bench.typist import Source
from completion_server.errors import SettingsError

FILES = (
    *("argparse", "ast", "calendar", "configparser", "csv", "difflib"),
    *("heapq", "pickle", "shlex", "statistics", "textwrap", "zipfile"),
)


def read_sources(patterns: Sequence[str]) -> list[Source]:
    """The files that the patterns name, in order, less those that are no text. Raises `SettingsError` without any."""
    names = {name for pattern in patterns for name in glob(pattern, recursive=True)}  # noqa: PTH207 - may be absolute
    paths = sorted(map(Path, names))
    sources = []
    for path in paths:
        try:
            if path.is_file():  # others may never end
                sources.append(Source(path, path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError):
            continue
    if not sources:
        raise SettingsError(f"no text files match {', '.join(patterns)}")
    return sources


def standard_library(names: Sequence[str] = FILES) -> list[Path]:
    """Those of the modules `names` that are one file each here."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    return [path for path in (folder / f"{name}.py" for name in names) if path.is_file()]
