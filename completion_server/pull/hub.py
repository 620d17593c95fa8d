"""Models of the Hugging Face hub, kept in that library's own cache, which other tools share.

Only weights as safetensors, configuration and tokenizer are fetched: no pickle, no code. Every exception of the hub's
library becomes one of ours here.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Protocol

from completion_server.errors import ModelNotFound, UnsafeModel, UnsupportedModel
from completion_server.pairs import ModelRef
from completion_server.pull.folder import PICKLED, check_folder
from completion_server.pull.progress import Progress

PATTERNS = (
    "*.safetensors",
    "*.safetensors.index.json",
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "LICENSE*",
)


_TIMEOUT_S = 10.0


class Hub(Protocol):
    """What is needed of a hub: one real implementation below, a fake in the tests."""

    def files(self, ref: ModelRef) -> Sequence[str]:
        """Names of all files of a repository."""

    def snapshot(self, ref: ModelRef, offline: bool) -> Path:
        """The local folder with the files that match PATTERNS, downloaded unless `offline`."""


def locate(ref: ModelRef, hub: Hub | None = None) -> Path:
    try:
        return check_folder((hub or HuggingFace()).snapshot(ref, offline=True))
    except ModelNotFound as error:
        raise ModelNotFound(f"{ref} is not here yet, or not all of it: run `foretype pull {ref}`") from error


def pull(ref: ModelRef, progress: Progress, hub: Hub | None = None) -> Path:
    """Download what is missing. Raises ModelNotFound, or UnsafeModel before anything large is fetched."""
    hub = hub or HuggingFace()
    try:
        return locate(ref, hub)
    except ModelNotFound:
        progress("asking the hub", 0.0)
    _check_names(ref, hub.files(ref))
    progress("downloading", 0.0)
    return check_folder(hub.snapshot(ref, offline=False))


def _check_names(ref: ModelRef, names: Sequence[str]) -> None:
    if any(name.endswith(".safetensors") and "/" not in name for name in names):
        return
    if any(name.endswith(".gguf") for name in names):
        raise UnsupportedModel(f"{ref} holds GGUF files only: download one of them and give its path instead")
    if any(name.endswith(PICKLED) for name in names):
        raise UnsafeModel(f"{ref} has only pickled weights, which could run code when they are read: refused")
    raise ModelNotFound(f"{ref} holds no weights as safetensors")


class HuggingFace:
    """The real hub, through `huggingface_hub` (its settings, token and cache folder)."""

    def files(self, ref: ModelRef) -> Sequence[str]:
        hub = _library()
        try:
            siblings = hub.HfApi().model_info(ref.name, revision=ref.revision, timeout=_TIMEOUT_S).siblings
        except Exception as error:
            raise _mapped(ref, error) from error
        return [sibling.rfilename for sibling in siblings or ()]

    def snapshot(self, ref: ModelRef, offline: bool) -> Path:
        hub = _library()
        try:
            return Path(
                hub.snapshot_download(
                    ref.name, revision=ref.revision, allow_patterns=list(PATTERNS), local_files_only=offline
                )
            )
        except Exception as error:
            raise _mapped(ref, error) from error


def _library() -> ModuleType:
    try:
        import huggingface_hub
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ModuleNotFoundError as error:
        raise ModelNotFound(
            "models of the Hugging Face hub need the engine's packages: pip install 'foretype[engine]'"
        ) from error
    if not sys.stderr.isatty():
        disable_progress_bars()
    return huggingface_hub


def _mapped(ref: ModelRef, error: Exception) -> ModelNotFound:
    """By name of the class: what the hub's library raises for a broken network changes with its versions."""
    kind = type(error).__name__
    if kind == "GatedRepoError":
        return ModelNotFound(f"{ref} asks for its licence to be accepted on its web page, then `hf auth login`")
    if kind in ("RepositoryNotFoundError", "RevisionNotFoundError"):
        return ModelNotFound(f"the hub knows no {ref} (a private one needs `hf auth login`)")
    return ModelNotFound(
        f"{ref} could not be fetched ({kind}): no network, and not cached; pull it on a machine that has one and copy "
        "the hub's cache folder (HF_HOME), or give a local folder"
    )
