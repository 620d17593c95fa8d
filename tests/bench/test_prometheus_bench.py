"""The queries of the dashboard as a list, and what is said where there is no Prometheus."""

import shutil

from bench.prometheus.__main__ import main
from bench.prometheus.board import Query, queries


def test_a_query_is_filled_as_grafana_fills_it():
    query = Query("a", "b", 'sum(rate(x{pair=~"$pair"}[$__rate_interval]))')
    assert query.filled("20s") == 'sum(rate(x{pair=~".*"}[20s]))'


def test_every_line_of_every_panel_is_asked_for():
    found = queries()
    assert len(found) == len({(query.panel, query.legend) for query in found}) > 40
    assert not [query for query in found if "$" in query.filled("20s")]


def test_without_a_prometheus_it_says_what_to_install(scripted_command, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    command = scripted_command("--exit-with-parent", rules=[{"text": "y\n"}])
    assert main(["--seconds", "1"], engine_command=command) == 2
    assert capsys.readouterr().err == "prometheus: prometheus is not installed: apt-get install prometheus\n"
