"""docs/compare.md names what there is, and its findings are those of the JSON beside it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bench.compare.figures import names
from bench.compare.page import page
from bench.compare.rule import RULE

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def text() -> str:
    return " ".join((DOCS / "compare.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    return json.loads((DOCS / "measurements" / "compare.json").read_text(encoding="utf-8"))


def test_every_figure_is_in_the_table_of_figures(text: str) -> None:
    table = text.partition("| part | figures |")[2].partition("[numbers.md]")[0]
    assert re.findall(r"`(\w+)`", table) == names()


def test_every_key_of_the_json_is_named(text: str, measured: dict[str, Any]) -> None:
    keys = text.partition("## The JSON")[2]
    pair = next(iter(measured["pairs"].values()))
    for key in (*measured, *measured["best"], *measured["environment"], *pair):
        assert f"`{key}`" in keys, key


def test_the_findings_are_those_of_the_measurement(text: str, measured: dict[str, Any]) -> None:
    assert measured["command"] in text
    assert measured["best"]["sentence"] in text
    assert measured["best"]["rule"] == RULE
    for name, pair in measured["pairs"].items():
        assert f"{pair['figures']['tokens_per_s']:.1f} ({name})" in text


def test_the_measurement_still_makes_a_report(measured: dict[str, Any]) -> None:
    assert measured["best"]["sentence"] in page(measured)
