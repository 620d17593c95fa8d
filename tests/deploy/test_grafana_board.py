"""The dashboard for Grafana, as a file: what Grafana would refuse, draw over or leave without a unit or a name.

That its queries have answers is for `tests/completion_server/numbers/test_prometheus.py`.
"""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from completion_server.backend import Snapshot
from completion_server.numbers.metrics import Metrics, SnapshotCollector
from completion_server.numbers.summary import FIRST_TOKENS_MS, SUGGESTION_MS

BOARD: dict[str, Any] = json.loads((Path(__file__).parents[2] / "deploy/grafana/foretype.json").read_text())
ROWS = [panel for panel in BOARD["panels"] if panel["type"] == "row"]
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
each_panel = pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])


def test_it_is_of_the_version_that_grafana_writes_today() -> None:
    assert BOARD["schemaVersion"] == 42  # Grafana 12 and 13; older ones read what they know of it
    assert 8 <= len(BOARD["uid"]) <= 40
    assert "id" not in BOARD  # that of somebody's Grafana


def test_the_source_of_data_is_chosen_where_it_is_imported() -> None:
    source, pair = BOARD["templating"]["list"]
    assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
    assert (pair["name"], pair["datasource"]) == ("pair", SOURCE)
    for panel in PANELS:
        assert panel["datasource"] == SOURCE
        assert all(target["datasource"] == SOURCE for target in panel["targets"])


def test_panels_lie_beside_each_other_in_their_rows() -> None:
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert len(ids) == len(set(ids))
    cells = [
        {(place["x"] + column, place["y"] + line) for column in range(place["w"]) for line in range(place["h"])}
        for place in (panel["gridPos"] for panel in BOARD["panels"])
    ]
    assert all(not one & other for one, other in combinations(cells, 2))
    taken = set().union(*cells)
    assert taken == {(x, y) for x in range(24) for y in range(1 + max(y for _, y in taken))}
    assert all((row["gridPos"]["w"], row["gridPos"]["h"]) == (24, 1) for row in ROWS)


@each_panel
def test_a_panel_says_what_it_shows(panel: dict[str, Any]) -> None:
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert [target["refId"] for target in panel["targets"]] == list("ABCDEFGH"[: len(panel["targets"])])
    legends = [target["legendFormat"] for target in panel["targets"]]
    assert all(legends)
    assert len(legends) == len(set(legends))


@each_panel
def test_a_panel_has_the_unit_of_its_query(panel: dict[str, Any]) -> None:
    queries = " ".join(target["expr"] for target in panel["targets"])
    unit = panel["fieldConfig"]["defaults"]["unit"]
    assert ("_seconds_bucket" in queries) == (unit == "s")
    assert ("_bytes" in queries) == (unit == "bytes")


@each_panel
def test_limits_are_those_of_goodput(panel: dict[str, Any]) -> None:
    steps = panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])
    limits = [step["value"] for step in steps if step["value"] is not None]
    if re.search(r"[Ll]imit(:| of goodput)", panel["description"]):
        first = "first" in panel["title"].lower()
        assert limits[-1] == (FIRST_TOKENS_MS if first else SUGGESTION_MS) / 1e3


@each_panel
def test_a_label_in_a_legend_is_one_of_the_query(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
            kept = re.search(rf"by \([^)]*\b{label}\b[^)]*\)", target["expr"])
            assert kept or "(" not in target["expr"]


def test_every_metric_is_on_it_and_it_names_no_other() -> None:
    metrics = Metrics()
    metrics.registry.register(SnapshotCollector(lambda: Snapshot(device_bytes=1)))
    there = {family.name for family in metrics.registry.collect()}
    queries = " ".join(target["expr"] for panel in PANELS for target in panel["targets"])
    named = {re.sub(r"_(total|bucket)$", "", name) for name in re.findall(r"foretype_\w+", queries)}
    assert named == there
