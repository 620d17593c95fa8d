"""The pair that this user, this call and this machine come to. Imports torch only where there might be a GPU."""

from dataclasses import replace
from pathlib import Path

from completion_server.pairs import Pair, choose, default_name, load_pairs
from completion_server.settings import EngineSettings

_NVIDIA_DRIVER = (Path("/dev/nvidiactl"), Path("/dev/dxg"))  # Linux, and Linux inside Windows


def choose_pair(settings: EngineSettings) -> Pair:
    """The pair that `settings` come to. Raises SettingsError if a pairs file, a name or a model makes no sense."""
    settings = with_pair(settings)
    return choose(load_pairs(), settings.pair, settings.target, settings.draft)


def with_pair(settings: EngineSettings) -> EngineSettings:
    """The same settings with the default pair written down if they name neither a pair nor a target."""
    if settings.pair is not None or settings.target is not None:
        return settings
    return replace(settings, pair=default_name(free_device_bytes(settings.device)))


def free_device_bytes(device: str) -> int | None:
    """Free memory of the CUDA device that `device` comes to; None if that is none, or torch is not installed."""
    if device == "cpu" or not any(path.exists() for path in _NVIDIA_DRIVER):
        return None
    try:
        from completion_server.models.device import choose_device, free_memory
    except ModuleNotFoundError:
        return None
    chosen = choose_device(device)
    return free_memory(chosen) if chosen.type == "cuda" else None
