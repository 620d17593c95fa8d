"""Packages come from their registries' clients and are what was pinned, or nothing is."""

import hashlib
import stat
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from bench.quality.packages import PURPOSES, Package, fetch, packages, patterns
from completion_server.errors import SettingsError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """A tarball, and an `npm` that copies it to where it is told to."""
    source = tmp_path / "lib.js"
    source.write_text("var x = 1;\n")
    archive = tmp_path / "thing-1.0.0.tgz"
    with tarfile.open(archive, "w:gz") as tarball:
        tarball.add(source, "package/lib.js")
    programs = tmp_path / "bin"
    programs.mkdir()
    npm = programs / "npm"
    npm.write_text(f'#!/bin/sh\n[ "$4" = "thing@1.0.0" ] && cp {archive} "$3"\n')
    npm.chmod(npm.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return Package("npm", "thing", "1.0.0", hashlib.sha256(archive.read_bytes()).hexdigest(), "package/*.js")


def test_a_package_is_unpacked_into_its_folder(package, tmp_path) -> None:
    folder = tmp_path / "cache" / "thing"
    fetch(package, folder)
    assert (folder / "package" / "lib.js").read_text() == "var x = 1;\n"
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"sha256": "0" * 64}, "not what it was"), ({"version": "2.0.0"}, "could not be fetched")],
)
def test_nothing_is_left_of_what_is_not_what_was_pinned(package, tmp_path, changed, message) -> None:
    folder = tmp_path / "cache" / "thing"
    with pytest.raises(SettingsError, match=message):
        fetch(replace(package, **changed), folder)
    assert list(folder.parent.iterdir()) == []


def test_a_client_that_is_not_there_is_said(package, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match="could not be fetched"):
        fetch(package, tmp_path / "cache" / "thing")


def test_what_is_there_is_not_fetched_again(package, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FORETYPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("bench.quality.packages.packages", lambda _: [package])
    heard: list[Package] = []
    (found,) = patterns("tuning", heard.append)
    assert found == str(tmp_path / "cache" / "quality" / "npm-thing-1.0.0" / "package/*.js")
    monkeypatch.setenv("PATH", "")
    assert patterns("tuning", heard.append) == [found]
    assert heard == [package, package]


def test_nothing_is_tuned_on_what_is_published() -> None:
    names = [{package.name for package in packages(purpose)} for purpose in PURPOSES]
    assert not names[0] & names[1]
    assert all(len(package.sha256) == 64 for purpose in PURPOSES for package in packages(purpose))
