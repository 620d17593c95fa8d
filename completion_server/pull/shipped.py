"""Drafts that come with Foretype: small enough for the package, so they are here as soon as it is.

Their weights are pinned by hash. Knows nothing of how they were made: `docs/distill.md` says that.
"""

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from completion_server.errors import ModelNotFound, UnsafeModel
from completion_server.pull.folder import check_folder

_EMBEDDED_DRAFT = "b0fba26922aa046dea2e5d32207b7e076dd89fc4eca1c8cabcf3b47adcd2095a"
SHA256: Mapping[str, str] = MappingProxyType({"embedded-draft": _EMBEDDED_DRAFT})
"""Of `model.safetensors`, by the name of the draft."""


def locate(name: str, pinned: Mapping[str, str] = SHA256) -> Path:
    """The folder of a draft that came with the package.

    Raises ModelNotFound if the installation is not whole, UnsafeModel if its weights are not the pinned ones.
    """
    folder = check_folder(Path(str(files("completion_server").joinpath("drafts", name))))
    try:
        weights = (folder / "model.safetensors").read_bytes()
    except OSError as error:
        raise ModelNotFound(f"{name} cannot be read ({error.strerror}); install Foretype anew") from error
    if hashlib.sha256(weights).hexdigest() != pinned[name]:
        raise UnsafeModel(f"the weights of {name} were changed; install Foretype anew")
    return folder
