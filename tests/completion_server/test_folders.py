"""Where settings and models are kept, with and without platformdirs."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from completion_server.errors import SettingsError
from completion_server.folders import cache_folder, config_folder
from completion_server.paths import runtime_paths


def test_the_cache_variable_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("FORETYPE_CACHE_DIR", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_then_the_xdg_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FORETYPE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert cache_folder() == config_folder() == tmp_path / "foretype"


def test_a_relative_xdg_variable_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", "here")
    assert config_folder().is_relative_to(tmp_path)


def test_without_platformdirs_the_xdg_defaults_hold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("FORETYPE_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache_folder() == tmp_path / ".cache" / "foretype"
    assert config_folder() == tmp_path / ".config" / "foretype"


@pytest.mark.parametrize(
    ("variable", "look"), [("FORETYPE_CACHE_DIR", cache_folder), ("FORETYPE_RUNTIME_DIR", runtime_paths)]
)
def test_the_home_of_a_user_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, look: Callable[[], object]
) -> None:
    monkeypatch.setenv(variable, "~no-such-user/x")
    with pytest.raises(SettingsError, match="'~no-such-user/x' begins with the home folder of a user"):
        look()
