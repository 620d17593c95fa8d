"""The page of measurements holds what the JSON holds."""

from bench.measurements_page import page

COMMANDS = {"scale": "python -m bench.scale", "engine": "python -m bench.engine --json"}


def lines(**results):
    return list(page(results, COMMANDS))


def test_single_figures_by_hand():
    found = lines(engine={"tokens_per_s": 12.54321, "cold_ms": 1675.647, "keys": 30, "k": [0, None], "ok": True})
    assert "    python -m bench.engine --json" in found
    for row in ("| tokens_per_s | 12.54 |", "| cold_ms | 1676 |", "| keys | 30 |", "| k | 0, – |", "| ok | True |"):
        assert row in found


def test_a_flat_mapping_is_one_cell_and_percentiles_are_a_short_one():
    found = lines(engine={"pass_ms": {"1": 13.5, "8": 19}, "ttft_ms": {"p50": 1.5, "p95": 2.5, "p99": None}})
    assert "| pass_ms | 1: 13.5; 8: 19 |" in found
    assert "| ttft_ms | 1.5 / 2.5 / – |" in found


def test_a_mapping_of_mappings_is_a_table_of_its_own():
    group = {"500": {"ttft_ms": {"p50": 1.5, "p95": 2.5, "p99": 3.5}, "keys": 30}, "5000": {"keys": 31, "x": 1}, "n": 2}
    found = lines(scale={"by_lines": group, "failed": 0})
    at = found.index("### by_lines")
    assert found[at + 2 : at + 6] == [
        "|  | ttft_ms | keys | x |",
        "|---|---|---|---|",
        "| 500 | 1.5 / 2.5 / 3.5 | 30 | – |",
        "| 5000 | – | 31 | 1 |",
    ]
    assert "| by_lines.n | 2 |" in found
    assert "| failed | 0 |" in found


def test_what_has_no_command_is_left_out_and_the_order_is_that_of_the_commands():
    found = lines(engine={"a": 1}, scale={"b": 2}, quality={"c": 3}, machine={"cores": "2 cores"})
    assert [line for line in found if line.startswith("## ")] == ["## scale", "## engine"]
    assert "Machine: 2 cores." in found
