"""The dashboard in deploy/grafana as a list of queries, and what is known of each answer. Pure."""

import json
from dataclasses import dataclass
from pathlib import Path

DEPLOY = Path(__file__).parents[2] / "deploy"


@dataclass(frozen=True, slots=True)
class Query:
    """What one line of a panel asks for, in Grafana's words."""

    panel: str
    legend: str
    expression: str

    def filled(self, rate_interval: str, pair: str = ".*") -> str:
        """As Prometheus is asked, with Grafana's variables replaced."""
        return self.expression.replace("$__rate_interval", rate_interval).replace("$pair", pair)


def queries(board: Path = DEPLOY / "grafana/foretype.json") -> list[Query]:
    """All of them, in order."""
    return [
        Query(panel["title"], target["legendFormat"], target["expr"])
        for panel in json.loads(board.read_text(encoding="utf-8"))["panels"]
        for target in panel.get("targets", [])
    ]
