"""Where a comparison was made: versions, processor, models by hash. No path and no name of a host or person."""

import hashlib
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from completion_server.errors import ModelError
from completion_server.pairs import ModelRef
from completion_server.pull import locate

_PACKAGES = ("foretype", "torch", "transformers")
_WEIGHTS = "*.safetensors"
_PATH = re.compile(r"(?<![^\s'\"(\[=:,])~?(?:/[^\s/'\",:;]+)*/(?=[^\s/])")
_FILE_URI = re.compile(r"file://")


def environment(models: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The stamp, with what `hashes` found."""
    import torch  # takes seconds

    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "models": {name: dict(files) for name, files in models.items()},
    }


def hashes(
    models: Iterable[ModelRef], on_model: Callable[[str], None] = lambda _: None
) -> dict[str, Mapping[str, str]]:
    """SHA-256 of the weights by model and file; `on_model` hears which is just being read."""
    found: dict[str, Mapping[str, str]] = {}
    for model in dict.fromkeys(models):
        on_model(named(model))
        found[named(model)] = _weights(model)
    return found


def without_paths(text: str) -> str:
    """`text` with `…/` for the folders of every absolute path in it."""
    return _PATH.sub("…/", _FILE_URI.sub("", text))


def named(model: ModelRef) -> str:
    """What a report calls it: folders of a person are nobody's business."""
    return Path(model.name).name if model.kind in ("folder", "gguf") else str(model)


def _weights(model: ModelRef) -> dict[str, str]:
    """Empty where the model is not here: its pair says so when it is to be loaded."""
    try:
        folder = locate(model)
    except ModelError:
        return {}
    found = {}
    for path in sorted(folder.glob(_WEIGHTS)):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def commit() -> str | None:
    """Of the checkout that this runs from, with a + where something was changed; None where it is none."""
    here = Path(__file__).parent
    git = ("git", "-C", str(here), "--no-optional-locks")
    try:
        revision = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True)
        tracked = subprocess.run([*git, "ls-files", Path(__file__).name], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    if not tracked.stdout:  # an installation inside somebody's checkout
        return None
    return revision.stdout.strip()[:12] + ("+" if changed.stdout else "")


def processor() -> str:
    """The processor's name."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
