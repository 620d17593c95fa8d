"""The doctor names the first broken hop and what to do."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from completion_server import doctor
from completion_server.doctor import Hop, examine
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths
from completion_server.pull.store import models_folder
from completion_server.scripted import ScriptedBackend


def names(hops: list[Hop]) -> list[tuple[str, bool]]:
    return [(hop.name, hop.ok) for hop in hops]


@pytest.fixture
def model() -> Path:
    folder = models_folder() / "embedded" / "safetensors"
    folder.mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_bytes(b"{}")
    return folder


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ENGINE", ("torch", "no-such-package"))
    hops = list(examine({}))
    assert names(hops) == [("python", True), ("packages", False)]
    assert hops[-1].detail == "not installed: no-such-package"
    assert hops[-1].remedy == "pip install 'foretype[engine]'"


def test_a_wrong_setting_is_a_broken_hop() -> None:
    hops = list(examine({"pair": "pear"}))
    assert names(hops)[-1] == ("settings", False)
    assert "no pair is called 'pear'" in hops[-1].detail


def test_a_model_that_was_not_pulled_is_named() -> None:
    hops = list(examine({}))
    assert names(hops)[-1] == ("models", False)
    assert hops[-1].detail.endswith("run `foretype pull embedded`")


def test_a_socket_folder_that_others_can_read_is_named(model: Path, runtime: RuntimePaths) -> None:
    runtime.folder.mkdir(mode=0o755)
    runtime.folder.chmod(0o755)
    hops = list(examine({}))
    assert names(hops)[-1] == ("socket folder", False)
    assert "open to others" in hops[-1].detail


def test_a_socket_folder_that_cannot_be_one_is_named(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file" / "x", tmp_path / ("x" * 5_000)):
        monkeypatch.setenv(RUNTIME_DIR_VARIABLE, str(folder))
        hops = list(examine({}))
        assert names(hops)[-1] == ("socket folder", False)
        assert "cannot use the runtime folder" in hops[-1].detail


def test_what_the_system_refuses_is_a_broken_hop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETYPE_CACHE_DIR", "/" + "x" * 5_000)
    hops = list(examine({}))
    assert names(hops)[-1] == ("models", False)
    assert hops[-1].detail.startswith("File name too long: /x")


def test_no_engine_is_well(model: Path) -> None:
    hops = list(examine({}))
    assert names(hops)[-2:] == [("socket folder", True), ("engine", True)]
    assert "starts one" in hops[-1].detail


async def test_with_an_engine_all_is_well(model: Path, scripted: Callable[..., Awaitable[ScriptedBackend]]) -> None:
    await scripted()
    hops = await asyncio.to_thread(lambda: list(examine({})))
    assert [hop.name for hop in hops] == ["python", "packages", "settings", "models", "socket folder", "engine"]
    assert all(hop.ok for hop in hops)
    assert "scripted, ready, answered in" in hops[-1].detail


async def test_an_engine_of_another_version_is_a_broken_hop(
    model: Path, scripted: Callable[..., Awaitable[ScriptedBackend]], monkeypatch: pytest.MonkeyPatch
) -> None:
    await scripted()
    monkeypatch.setattr(doctor, "__version__", "9.9")
    hops = await asyncio.to_thread(lambda: list(examine({})))
    assert not hops[-1].ok
    assert hops[-1].remedy.startswith("`foretype stop`")
