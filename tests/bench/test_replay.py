"""The whole replay on an engine by script: processes, two runs, cold prompts, and the JSON that others rely on."""

import json
from pathlib import Path

import pytest

from bench.replay.__main__ import main

KEYS = {
    "keystrokes",
    "shown",
    "keystroke_to_suggestion_ms",
    "ttft_ms",
    "cold_ttft_ms",
    "goodput",
    "cached_token_ratio",
    "computed_tokens_per_key",
    "draft_acceptance_rate",
    "acceptance_length",
    "wasted_tokens",
    "identical_to_target_only",
    "from_cache",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "source.py"
    file.write_text("".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(60)))
    return file


def test_a_replay(source, scripted_command, capsys):
    command = scripted_command("--exit-with-parent", rules=[{"match": "return", "text": " x + 1\n"}, {"text": "y\n"}])
    arguments = ["--files", str(source), "--keys", "30", "--seed", "3", "--cold", "2", "--json"]
    assert main(arguments, engine_command=command) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result.keys() >= KEYS
    assert err == ""
    assert result["keystrokes"] == 30
    assert result["shown"] > 8  # what would leave the file broken is not
    assert result["answered_by_engine"] + result["from_cache"] <= 30
    assert result["from_cache"] > 0
    assert result["failed"] == 0
    assert result["identical_to_target_only"] is True
    assert result["cold_ttft_ms"]["p50"] > 0
    assert abs(result["cold_prompt_tokens"]["p50"] - 1_500) <= 150


def test_suggestions_that_differ_without_drafting_are_seen(source, scripted_command, capsys, monkeypatch):
    monkeypatch.setattr("bench.replay.lockstep.differing_keys", lambda *_: 1)
    command = scripted_command("--exit-with-parent", rules=[{"text": "y\n"}])
    arguments = ["--files", str(source), "--keys", "3", "--cold", "0"]
    assert main(arguments, engine_command=command) == 1
    assert "identical_to_target_only" in capsys.readouterr().out


def test_keys_that_fail_are_counted(source, scripted_command, capsys):
    command = scripted_command("--exit-with-parent", rules=[{"error": "request"}])
    assert main(["--files", str(source), "--keys", "3", "--cold", "0", "--json"], engine_command=command) == 1
    assert json.loads(capsys.readouterr().out)["failed"] == 3


def test_models_that_do_not_load_are_one_line(source, scripted_command, capsys):
    command = scripted_command("--exit-with-parent", load_error="pull it first")
    assert main(["--files", str(source), "--keys", "3"], engine_command=command) == 2
    assert capsys.readouterr().err == "replay: pull it first\n"


def test_an_engine_that_does_not_start_is_one_line(source, capsys):
    assert main(["--files", str(source)], engine_command=("python3", "-c", "raise SystemExit('no room')")) == 2
    assert capsys.readouterr().err == "replay: the engine did not start: no room\n"


def test_no_files_are_one_line(tmp_path, capsys):
    assert main(["--files", str(tmp_path / "*.py")]) == 2
    assert "no text files" in capsys.readouterr().err
