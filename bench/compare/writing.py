"""Puts the report and the JSON into a folder, each whole or not at all."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.compare.page import page
from completion_server.errors import SettingsError

REPORT, NUMBERS = "report.html", "report.json"


def check(folder: Path) -> None:
    """Raises `SettingsError` where `write` could put nothing there: better now than after minutes."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise SettingsError(f"cannot write into {folder}: name another folder with --out")


def write(folder: Path, result: Mapping[str, Any]) -> Path:
    """Returns the report's path. Raises OSError where the folder cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    _whole(folder / NUMBERS, json.dumps(result, indent=1) + "\n")
    return _whole(folder / REPORT, page(result))


def _whole(path: Path, text: str) -> Path:
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        # What was typed on the command line may be no UTF-8; that shall not cost a report.
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
        return unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
