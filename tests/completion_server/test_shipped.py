"""The draft that comes with Foretype is whole, small, and the one that was pinned."""

import json
from pathlib import Path

import pytest

from completion_server.errors import UnsafeModel
from completion_server.pairs import EMBEDDED_DRAFT, ModelRef
from completion_server.pull import locate, pull, shipped, silent

MOST_BYTES = 20_000_000


@pytest.fixture
def folder() -> Path:
    return locate(ModelRef.parse("embedded-draft"))


def test_it_is_here_without_a_pull(folder: Path) -> None:
    assert pull(ModelRef.parse("embedded-draft"), silent) == folder
    assert sum(path.stat().st_size for path in folder.iterdir()) < MOST_BYTES


def test_its_card_names_data_licence_and_acceptance(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    assert card["licence"] == "Apache-2.0"
    assert card["target"] == json.loads((folder / "config.json").read_text())["target"] == "embedded"
    assert len(card["acceptance_by_position"]) >= 3
    assert sum(map(len, card["files"]["trained_on"].values())) > 100
    assert "unknown" not in card["files"]["trained_on"]
    text = (folder / "card.json").read_text() + (folder / "README.md").read_text()
    assert "/root/" not in text
    assert "/home/" not in text


def test_other_weights_are_refused() -> None:
    with pytest.raises(UnsafeModel, match="install Foretype anew"):
        shipped.locate(EMBEDDED_DRAFT, {EMBEDDED_DRAFT: "0" * 64})
