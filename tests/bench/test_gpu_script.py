"""The whole of `bench/gpu.sh` on a CPU with tiny shapes: every part runs, and what must be equal is."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.gpu import __main__ as script
from bench.gpu.shapes import REAL, TINY
from bench.gpu.stage import Stage
from completion_server.models import formats

ROOT = Path(__file__).parents[2]
ABSENT = ("pygls", "lsprotocol", "typer", "rich", "platformdirs", "accelerate", "gguf", "sklearn")
RUN = f"""
import sys
from importlib.machinery import PathFinder

class Sparse(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {ABSENT!r} else super().find_spec(name, path, target)

sys.meta_path[:] = [Sparse if finder is PathFinder else finder for finder in sys.meta_path]
from bench.gpu.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of one dry run where the packages that a GPU machine may lack cannot be imported."""
    folder = tmp_path_factory.mktemp("gpu")
    options = [
        "--tiny",
        "--parts",
        "all",
        "--device",
        "cpu",
        "--out",
        str(folder / "out.json"),
        "--profile",
        str(folder / "table"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "graphs off" in (folder / "table").read_text()
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    found["table"] = done.stdout
    return found


def test_every_part_has_a_result_and_a_place_in_the_table(report: dict[str, Any]) -> None:
    assert list(report["parts"]) == [*(part.name for part in script.PARTS), "profile"]
    for name, outcome in report["parts"].items():
        assert outcome["ok"], outcome
        assert outcome["result"]
        assert f"== {name}, " in report["table"]


def test_drafts_change_no_token_and_no_bit(report: dict[str, Any]) -> None:
    parts = {name: outcome["result"] for name, outcome in report["parts"].items()}
    assert parts["equality"]["torch_equal"] is True
    by_drafted = [rows for name, rows in parts["rounds"].items() if name.startswith("drafted")]
    assert len(by_drafted) == 5
    assert all(row["same_text"] for rows in by_drafted for row in rows.values())
    assert all(row["same_text"] for name, row in parts["line"].items() if name.startswith("drafted"))


def test_the_budgets_fit_into_five_minutes() -> None:
    assert sum(part.budget_s for part in script.PARTS if part.usual) <= 290


def test_a_failing_part_is_reported_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(_: Stage) -> dict[str, Any]:
        raise RuntimeError("no such luck")

    parts = (script.Part("bad", fail, 1), script.Part("good", lambda _: {"figure": 7}, 1))
    monkeypatch.setattr(script, "PARTS", parts)
    assert script.main(["--tiny", "--device", "cpu", "--out", str(tmp_path / "out")]) == 1
    outcomes = json.loads((tmp_path / "out").read_text())["parts"]
    assert outcomes["bad"]["error"] == "RuntimeError: no such luck"
    assert outcomes["good"]["result"] == {"figure": 7}
    assert "failed: RuntimeError" in capsys.readouterr().out


def test_a_part_begins_nothing_new_when_its_time_is_over() -> None:
    stage = Stage(TINY, torch.device("cpu"), "0.5b")
    stage.begin(0.0)
    assert list(stage.within([1, 2, 3])) == [1]
    assert stage.cut_short
    stage.begin(60.0)
    assert list(stage.within([1, 2, 3])) == [1, 2, 3]
    assert not stage.cut_short


def test_unknown_parts_and_a_missing_gpu_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        script.main(["--tiny", "--parts", "passes,magic"])
    assert "no such part: magic" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        script.main(["--device", "cpu"])
    assert "no GPU" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "billions"), [("target", 7.62), ("0.5b", 0.494), ("1.5b", 1.544)])
def test_the_real_shapes_have_the_published_number_of_weights(name: str, billions: float) -> None:
    shape = REAL.target if name == "target" else REAL.drafts[name]
    assert formats.count(shape.config(REAL.vocabulary, 32_768)).total / 1e9 == pytest.approx(billions, abs=0.005)
