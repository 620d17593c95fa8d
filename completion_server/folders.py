"""Where a user's settings, pulled models and numbers are kept. Creates nothing; knows nothing of what lies there.

`FORETYPE_CACHE_DIR` and the XDG variables come first, then what the platform prescribes. platformdirs is imported only
when it is needed: a machine that has just the engine's packages falls back to the XDG defaults.
"""

import os
from pathlib import Path

from completion_server.errors import SettingsError


def cache_folder() -> Path:
    """Pulled models: `$FORETYPE_CACHE_DIR`, else the user's cache folder for `foretype`."""
    if chosen := os.environ.get("FORETYPE_CACHE_DIR"):
        return expanded(chosen).absolute()
    return _xdg("XDG_CACHE_HOME") or _platform("user_cache_path", "~/.cache/foretype")


def config_folder() -> Path:
    """`config.toml` and `pairs.toml`: `$XDG_CONFIG_HOME/foretype`, else the user's configuration folder."""
    return _xdg("XDG_CONFIG_HOME") or _platform("user_config_path", "~/.config/foretype")


def numbers_file() -> Path:
    """The store of numbers, in `$FORETYPE_STATE_DIR`, else in the user's state folder for `foretype`."""
    if chosen := os.environ.get("FORETYPE_STATE_DIR"):
        return expanded(chosen).absolute() / "numbers.sqlite"
    folder = _xdg("XDG_STATE_HOME") or _platform("user_state_path", "~/.local/state/foretype")
    return folder / "numbers.sqlite"


def expanded(path: str) -> Path:
    """`path` with `~` and `~user` replaced. Raises SettingsError if that user has no home, or it can be no path."""
    try:
        if "\0" in path:
            raise SettingsError(f"{path!r} is no path: it has a zero byte")
        return Path(path).expanduser()
    except RuntimeError:
        raise SettingsError(f"{path!r} begins with the home folder of a user that is not there") from None


def _xdg(variable: str) -> Path | None:
    """The XDG specification says that a relative value must be ignored."""
    value = os.environ.get(variable, "")
    return Path(value) / "foretype" if os.path.isabs(value) else None  # noqa: PTH117 - "" is a value here


def _platform(function: str, fallback: str) -> Path:
    try:
        import platformdirs
    except ModuleNotFoundError:
        return Path(fallback).expanduser()
    path: Path = getattr(platformdirs, function)("foretype", appauthor=False)
    return path
