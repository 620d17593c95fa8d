"""The page of measurements holds what the JSON holds, and the committed page is the one that the JSON gives."""

import json

from bench import publish
from bench.quality import page as quality_page


def test_a_page_by_hand():
    lines = list(publish.page({"engine": {"tokens_per_s": 12.5, "peers": {"a": {"x": None}}, "k": [0, 1]}}))
    assert "| tokens_per_s | 12.5 |" in lines
    assert "| peers | a: (x: –) |" in lines
    assert "| k | 0, 1 |" in lines
    assert any(line.startswith("    python -m bench.engine") for line in lines)


def test_sizes_within_sizes_can_be_told_apart():
    figures = {"500": {"ttft_ms": {"p50": 1.5, "p95": 2.5}, "keys": 30}, "5000": {"keys": 30}}
    lines = list(publish.page({"scale": {"by_file_lines": figures}}))
    assert "| by_file_lines | 500: (ttft_ms: (p50: 1.5; p95: 2.5); keys: 30); 5000: (keys: 30) |" in lines


def test_the_committed_pages_are_up_to_date():
    results = {path.stem: json.loads(path.read_text()) for path in publish.FOLDER.glob("*.json")}
    assert set(results) <= {*publish.COMMANDS, "machine", "quality", "compare"}
    assert publish.FOLDER.with_suffix(".md").read_text() == "\n".join(publish.page(results)) + "\n"
    quality = "\n".join(quality_page.page(results["quality"], publish.QUALITY)) + "\n"
    assert (publish.FOLDER.parent / "quality.md").read_text() == quality
