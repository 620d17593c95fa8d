"""What the stamp says of a machine, and what it must not say."""

import hashlib
from pathlib import Path

import pytest

from bench.compare.environment import commit, environment, hashes, named, without_paths
from completion_server.pairs import ModelRef


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("nothing in /home/ann/models/mine: pull it first", "nothing in …/mine: pull it first"),
        ("'/srv/a b.gguf' and ~/x/y", "'…/a b.gguf' and …/y"),
        ("/home/ann/src/**/*.py", "…/*.py"),
        ("file:///home/ann/a.py", "…/a.py"),
        ("no room in /secret (or /)", "no room in …/secret (or …/)"),
        ("p50 / p95 and/or p99", "p50 / p95 and/or p99"),
        ("src/**/*.py", "src/**/*.py"),
        ("80.2 GB/s, 0.2 GB/pass", "80.2 GB/s, 0.2 GB/pass"),
        ("org/name at 1/2", "org/name at 1/2"),
    ],
)
def test_folders_of_a_person_are_taken_out_of_a_text(text: str, left: str) -> None:
    assert without_paths(text) == left


def test_a_model_is_named_without_its_folder_and_hashed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "mine" / "config.json").write_text("{}")
    mine, gone = ModelRef("folder", str(tmp_path / "mine")), ModelRef("folder", str(tmp_path / "gone"))
    heard: list[str] = []
    digest = hashlib.sha256(b"weights").hexdigest()
    assert hashes([mine, gone, mine], heard.append) == {"mine": {"model.safetensors": digest}, "gone": {}}
    assert heard == ["mine", "gone"]
    assert named(ModelRef("hub", "org/name", "main")) == "org/name@main"


def test_the_stamp_names_versions_and_no_paths() -> None:
    found = environment({"mine": {"model.safetensors": "ab"}})
    assert found["versions"].keys() == {"python", "foretype", "torch", "transformers"}
    assert found["cores"] >= 1
    assert found["threads"] >= 1
    assert found["models"] == {"mine": {"model.safetensors": "ab"}}
    assert without_paths(str(found)) == str(found)


def test_the_commit_is_that_of_this_checkout_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    found = commit()
    assert found is None or len(found.rstrip("+")) == 12
    monkeypatch.setenv("PATH", "")
    assert commit() is None
