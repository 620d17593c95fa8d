"""What a key costs beside the model: the bench runs, and says what it measured."""

import json
from pathlib import Path

import pytest

from bench import prompt_cost
from completion_server.models.tiny import tiny_tokenizer


def test_the_parts_of_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = tmp_path / "tokenizer.json"
    tiny_tokenizer(fim=True).save(str(tokenizer))
    code = prompt_cost.main(["--tokenizer", str(tokenizer), "--lines", "700", "--keys", "12", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert list(result["ms"]) == ["context", "prompt", "trim", "total"]
    assert (result["keys"], result["layout"]) == (11, "qwen")
    assert 690 <= result["lines"] <= 720
    total = result["ms"]["total"]
    assert total["p50"] >= max(result["ms"][part]["p50"] for part in ("context", "prompt", "trim"))
    assert result["met"] == (total["p95"] <= 2.0) == (code == 0)


def test_a_tokenizer_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prompt_cost.main(["--tokenizer", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
