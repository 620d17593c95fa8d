"""The committed pages are those that the committed JSON gives."""

import json

from bench import publish
from bench.measurements_page import page
from bench.quality import page as quality_page


def test_the_committed_pages_are_up_to_date():
    results = {path.stem: json.loads(path.read_text()) for path in publish.FOLDER.glob("*.json")}
    assert set(results) <= {*publish.COMMANDS, "machine", "quality", "compare"}
    assert publish.FOLDER.with_suffix(".md").read_text() == "\n".join(page(results, publish.COMMANDS)) + "\n"
    quality = "\n".join(quality_page.page(results["quality"], publish.QUALITY)) + "\n"
    assert (publish.FOLDER.parent / "quality.md").read_text() == quality
