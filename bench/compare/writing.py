"""Puts the report and the JSON into a folder, each whole or not at all."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.compare.page import page

REPORT, NUMBERS = "report.html", "report.json"


def write(folder: Path, result: Mapping[str, Any]) -> Path:
    """Returns the report's path. Raises OSError where the folder cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    _whole(folder / NUMBERS, json.dumps(result, indent=1) + "\n")
    return _whole(folder / REPORT, page(result))


def _whole(path: Path, text: str) -> Path:
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    return unfinished.replace(path)
