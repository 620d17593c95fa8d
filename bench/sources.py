"""The files whose text the benches use where none are named: modules of the standard library, the same everywhere."""

import sysconfig
from collections.abc import Sequence
from pathlib import Path

FILES = (
    *("argparse", "ast", "calendar", "configparser", "csv", "difflib"),
    *("heapq", "pickle", "shlex", "statistics", "textwrap", "zipfile"),
)


def standard_library(names: Sequence[str] = FILES) -> list[Path]:
    """Those of the modules `names` that are one file each here."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    return [path for path in (folder / f"{name}.py" for name in names) if path.is_file()]
