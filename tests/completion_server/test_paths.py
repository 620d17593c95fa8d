"""The runtime folder is the user's alone, or it is not used."""

import os
import stat
from pathlib import Path

import pytest

from completion_server.errors import SettingsError
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths, runtime_paths


def test_variable_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(RUNTIME_DIR_VARIABLE, str(tmp_path))
    assert runtime_paths().socket == tmp_path / "engine.sock"


def test_relative_folder_is_made_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUNTIME_DIR_VARIABLE, "here")
    assert runtime_paths().folder == Path.cwd() / "here"


def test_without_the_variable_it_is_the_system_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(RUNTIME_DIR_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert runtime_paths().folder.name == "foretype"


def test_missing_runtime_folder_of_the_system_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RUNTIME_DIR_VARIABLE, raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert runtime_paths().folder.name == "foretype"


def test_folder_is_made_for_the_user_alone(runtime: RuntimePaths) -> None:
    old = os.umask(0)
    try:
        runtime.create()
    finally:
        os.umask(old)
    assert stat.S_IMODE(runtime.folder.stat().st_mode) == 0o700
    runtime.create()


@pytest.mark.parametrize("mode", [0o755, 0o710, 0o701, 0o770, 0o777])
def test_folder_open_to_others_is_refused(runtime: RuntimePaths, mode: int) -> None:
    runtime.folder.mkdir()
    runtime.folder.chmod(mode)
    with pytest.raises(SettingsError, match=r"open to others.*chmod 700"):
        runtime.create()
    assert stat.S_IMODE(runtime.folder.stat().st_mode) == mode


def test_symbolic_link_is_refused(runtime: RuntimePaths) -> None:
    real = runtime.folder.with_name("real")
    real.mkdir(mode=0o700)
    runtime.folder.symlink_to(real)
    with pytest.raises(SettingsError, match="not a folder"):
        runtime.create()


def test_file_in_its_place_is_refused(runtime: RuntimePaths) -> None:
    runtime.folder.write_text("")
    with pytest.raises(SettingsError, match="cannot make the runtime folder"):
        runtime.create()


def test_folder_of_another_user_is_refused(runtime: RuntimePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.create()
    monkeypatch.setattr(os, "getuid", lambda: runtime.folder.stat().st_uid + 1)
    with pytest.raises(SettingsError, match="belongs to another user"):
        runtime.check()


def test_too_long_path_is_an_error_that_says_what_to_do(runtime: RuntimePaths) -> None:
    room = 107 - len(os.fsencode(runtime.folder.parent)) - len("//engine.sock")
    RuntimePaths(runtime.folder.parent / ("x" * (room - 4))).create()
    with pytest.raises(SettingsError, match=f"bytes.*set {RUNTIME_DIR_VARIABLE}"):
        RuntimePaths(runtime.folder.parent / ("x" * (room + 1))).create()


def test_check_makes_nothing(runtime: RuntimePaths) -> None:
    with pytest.raises(FileNotFoundError):
        runtime.check()
    assert not runtime.folder.exists()


def test_folder_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder, says in ((tmp_path / "file" / "x", "Not a directory"), (tmp_path / ("x" * 5_000), "name too long")):
        with pytest.raises(SettingsError, match=f"cannot use the runtime folder .*{says}.*set {RUNTIME_DIR_VARIABLE}"):
            RuntimePaths(folder).check()
