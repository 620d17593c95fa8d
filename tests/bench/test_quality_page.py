"""The page and the pictures hold what the JSON holds."""

import json
from pathlib import Path

import pytest

from bench import publish
from bench.quality.cursors import Cursor
from bench.quality.figures import Outcome, Suggested, report
from bench.quality.page import page
from bench.quality.plot import draw
from bench.quality.scores import NOTHING, Score

GOOD = Score(shown=True, exact=True, prefix_chars=10, similarity=1.0, syntax_ok=True, repeats=False)


@pytest.fixture
def result() -> dict:
    outcomes = [
        Outcome(
            Cursor(Path(f"{number}.py"), "python", kind, "x", "y", "\n"),
            Suggested("y", number / 4, GOOD),
            NOTHING,
            without={"healing": Suggested("y", 1.0, GOOD if number else NOTHING)},
        )
        for number, kind in enumerate(("dot", "word", "word", "block"))
    ]
    return {**report(outcomes, 0.3), "files": 4, "pair": "p", "target": "a-model", "device": "cpu", "dtype": "int8"}


def test_a_page_by_hand(result) -> None:
    lines = list(page(result, "a command"))
    assert "    a command" in lines
    assert "4 cursors in 4 files, a-model, int8 on cpu." in lines
    assert "| all | 4 | 2 | 0.500 | 1.000 | 0.500 | 5.000 | 1.000 | 0.000 |" in lines
    assert "| all, model alone | 4 | 0 | 0.000 | – | 0.000 | 0.000 | – | – |" in lines
    assert "| word | 2 | 1 | 0.500 | 1.000 | 0.500 | 5.000 | 1.000 | 0.000 |" in lines
    assert "| confidence | 4 | 4 | 1.000 | 1.000 | 1.000 | 10.000 | 1.000 | 0.000 |" in lines
    assert "Inside a word 0.500 of all lines are exact, without healing 1.000." in lines


def test_pictures_are_the_same_each_time_and_fetch_nothing(result, tmp_path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        draw(result, tmp_path / name)
    for name in ("quality-curve.svg", "quality-kinds.svg"):
        svg = (tmp_path / "one" / name).read_text()
        assert svg == (tmp_path / "two" / name).read_text()
        assert "<image" not in svg
        assert "@import" not in svg


def test_publishing_writes_page_and_pictures_beside_the_measurements(result, tmp_path, monkeypatch) -> None:

    folder = tmp_path / "docs" / "measurements"
    folder.mkdir(parents=True)
    (folder / "quality.json").write_text(json.dumps(result))
    monkeypatch.setattr(publish, "FOLDER", folder)
    assert publish.main([]) == 0
    assert (tmp_path / "docs" / "quality.md").read_text().startswith("# Quality of suggestions\n")
    assert publish.QUALITY in (tmp_path / "docs" / "quality.md").read_text()
    assert (tmp_path / "docs" / "quality-curve.svg").exists()
    assert "quality" not in (tmp_path / "docs" / "measurements.md").read_text()
