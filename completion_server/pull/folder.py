"""Whether a folder holds a model that may be loaded: weights as safetensors, all of them, never pickle."""

import json
from pathlib import Path

from completion_server.errors import ModelNotFound, UnsafeModel

PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_INDEX = "model.safetensors.index.json"


def is_complete(folder: Path) -> bool:
    try:
        check_folder(folder)
    except (ModelNotFound, UnsafeModel):
        return False
    return True


def check_folder(folder: Path) -> Path:
    """Return `folder` if it has a config.json and safetensors, every shard that their index names included.

    Raises ModelNotFound if something is missing, UnsafeModel if the only weights are pickled.
    """
    if not folder.is_dir():
        raise ModelNotFound(f"there is no folder {folder}")
    if not (folder / "config.json").is_file():
        raise ModelNotFound(f"{folder} is no model: it has no config.json")
    weights = {path.name for path in folder.glob("*.safetensors")}
    if not weights:
        if any(path.suffix in PICKLED for path in folder.iterdir()):
            raise UnsafeModel(
                f"{folder} has only pickled weights, which could run code when they are read; "
                "use a version of the model with safetensors"
            )
        raise ModelNotFound(f"{folder} has no *.safetensors")
    if missing := _shards(folder / _INDEX) - weights:
        raise ModelNotFound(f"{folder} is incomplete: {min(missing)} is missing ({len(missing)} in all); pull it again")
    return folder


def _shards(index: Path) -> set[str]:
    if not index.is_file():
        return set()
    try:
        return set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelNotFound(f"{index} cannot be read; pull the model again") from error
