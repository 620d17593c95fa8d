"""All of `bench.scale` on an engine by script: processes, sizes, and the JSON that others rely on."""

import json

import pytest

from bench import scale_parts
from bench.scale import main


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A source, and sizes that take no time."""
    monkeypatch.setattr(scale_parts, "PACE", 0.01)
    monkeypatch.setattr(scale_parts, "BURST", 1)
    monkeypatch.setattr(scale_parts, "FILE_LINES", (500, 1_000))
    monkeypatch.setattr(scale_parts, "OPEN_DOCUMENTS", (1, 3))
    monkeypatch.setattr(scale_parts, "EDITORS", (1, 2))
    monkeypatch.setattr(scale_parts, "CONTEXT_TOKENS", (500, 1_000))
    monkeypatch.setattr(scale_parts, "COLD_PROMPTS", 1)
    source = tmp_path / "source.py"
    source.write_text("".join(f"def f{n}(x):\n    if x > {n}:\n        return x\n\n\n" for n in range(300)))
    return source


def test_every_part(small, scripted_command, capsys):
    command = scripted_command("--exit-with-parent", rules=[{"text": "y = 1\n"}])
    assert main(["--files", str(small), "--keys", "3", "--json"], engine_command=command) == 0
    out, err = capsys.readouterr()
    assert err == ""
    result = json.loads(out)
    assert result["failed"] == 0
    assert result["not_reached"] == []
    for part, sizes in {
        "by_file_lines": {"500": 3, "1000": 3},
        "by_open_documents": {"1": 3, "3": 3},
        "by_editors": {"1": 3, "2": 6},
        "by_context_tokens": {"500": 3, "1000": 3},
    }.items():
        assert {size: found["keys"] for size, found in result[part].items()} == sizes, "each key asks the engine"
        for found in result[part].values():
            assert found["keystroke_to_suggestion_ms"].keys() == found["ttft_ms"].keys() == {"p50", "p95", "p99"}
    assert {"file_lines", "context_tokens", "editors"} <= result["ratios"].keys()
    assert result["cold_beside_warm"]["cold"]["keys"] == 1


def test_one_part_as_a_table(small, scripted_command, capsys):
    command = scripted_command("--exit-with-parent", rules=[{"text": "y = 1\n"}])
    arguments = ["--files", str(small), "--keys", "2", "--part", "file-lines"]
    assert main(arguments, engine_command=command) == 0
    out = capsys.readouterr().out
    assert "by_file_lines" in out
    assert "by_editors" not in out


def test_keys_that_fail_are_an_exit_code(small, scripted_command, capsys):
    command = scripted_command("--exit-with-parent", rules=[{"error": "request"}])
    arguments = ["--files", str(small), "--keys", "2", "--part", "file-lines", "--json"]
    assert main(arguments, engine_command=command) == 1
    assert json.loads(capsys.readouterr().out)["failed"] == 4
