"""The whole bench on an engine by script: cursors, the language server, the raw continuation, and the keys of its JSON.

The script says the same in every place, so what is right is known.
"""

import json
import os
from pathlib import Path

import pytest

from bench.quality import fit
from bench.quality.__main__ import main
from bench.quality.parts import CONFIGURATION, write_pair_without
from completion_server.errors import SettingsError
from completion_server.pairs import load_pairs

KEYS = {
    "n",
    "shown",
    "exact_line",
    "prefix_chars_mean",
    "edit_similarity",
    "syntax_ok",
    "repeats_suffix",
}
CODE = "".join(f"def f{n}(value):\n    first = value.name\n    return call(first, {n})\n\n\n" for n in range(30))


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "source.py").write_text(CODE)
    return str(tmp_path / "*.py")


def run(capsys, *arguments: str, command) -> dict:
    assert main([*arguments, "--json"], engine_command=command) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_all_keys_and_what_is_right(source, scripted_command, capsys) -> None:
    rules = [{"match": "value.", "text": "name\n"}, {"text": "other\n"}]
    command = scripted_command("--exit-with-parent", rules=rules)
    found = run(capsys, "--files", source, "--n", "14", "--seed", "3", command=command)
    assert found.keys() >= KEYS | {"raw", "by_kind", "by_language", "interval_95", "curve", "min_confidence", "without"}
    assert found["raw"].keys() >= KEYS
    assert (found["n"], found["shown"], found["files"], found["seed"]) == (14, 14, 1, 3)
    dots = found["by_kind"]["dot"]
    assert (dots["exact_line"], dots["precision"], dots["raw"]["exact_line"]) == (1.0, 1.0, 1.0)
    assert found["by_kind"]["indent"]["exact_line"] == 0.0
    assert found["repeats_suffix"] == 0.0
    assert found == run(capsys, "--files", source, "--n", "14", "--seed", "3", command=command)


def test_what_the_server_trims_is_what_switching_trimming_off_brings_back(source, scripted_command, capsys) -> None:
    rules = [{"match": "call(", "text": "first, 7)\n"}, {"match": "(", "text": "value):\n"}, {"text": "x = 1\n"}]
    command = scripted_command("--exit-with-parent", rules=rules)
    found = run(capsys, "--files", source, "--n", "14", "--without", "trim", command=command)
    assert found["without"].keys() == {"confidence", "trim"}
    assert found["without"]["confidence"]["n"] == found["without"]["trim"]["n"] == 14
    assert found["without"]["confidence"]["exact_line"] == found["exact_line"]


def test_a_table_for_people(source, scripted_command, capsys) -> None:
    assert main(["--files", source, "--n", "7"], engine_command=scripted_command(rules=[{"text": "y\n"}])) == 0
    out = capsys.readouterr().out
    assert "7 cursors in 1 files" in out
    assert "indent" in out


def test_an_engine_that_fails_is_said_in_one_line(source, scripted_command, capsys) -> None:
    command = scripted_command("--exit-with-parent", rules=[{"error": "overloaded"}])
    assert main(["--files", source, "--n", "2", "--json"], engine_command=command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("quality: ")
    assert err.count("\n") == 1


def test_no_files_are_said_before_an_engine_starts(tmp_path, capsys) -> None:
    assert main(["--files", str(tmp_path / "*.py")], engine_command=["no such program"]) == 2
    assert "no file in a language with a grammar" in capsys.readouterr().err


def test_interrupted_it_reports_what_is_done(source, scripted_command, capsys, monkeypatch) -> None:
    asked = []

    async def interrupted(client, cursor) -> str:
        asked.append(cursor)
        if len(asked) > 3:
            raise KeyboardInterrupt
        return "name"

    monkeypatch.setattr("bench.quality.run.raw_line", interrupted)
    command = scripted_command("--exit-with-parent", rules=[{"text": "y\n"}])
    assert main(["--files", source, "--n", "9", "--json"], engine_command=command) == 130
    assert json.loads(capsys.readouterr().out)["n"] == 3


def test_where_a_cursor_fails_the_others_are_not_lost(source, scripted_command, capsys) -> None:
    """Behind a dot the engine has an error; before the first such cursor there are others."""
    command = scripted_command("--exit-with-parent", rules=[{"match": ".", "error": "request"}, {"text": "x\n"}])
    assert main(["--files", source, "--n", "14", "--seed", "3", "--json"], engine_command=command) == 1
    out, err = capsys.readouterr()
    assert 0 < json.loads(out)["n"] < 14
    assert "a request ended as error" in err


@pytest.mark.parametrize(("part", "changed"), [("healing", {"healing": False}), ("layout", {"layout": "prefix-only"})])
def test_a_pair_without_a_part_is_the_same_but_for_that(part, changed, tmp_path, monkeypatch) -> None:
    whole = load_pairs()["qwen-7b-0.5b"]
    write_pair_without(part, whole.name, tmp_path)
    monkeypatch.setenv(CONFIGURATION, str(tmp_path))
    other = load_pairs()[whole.name]
    assert {name: getattr(other, name) for name in changed} == changed
    assert all(getattr(other, name) == getattr(whole, name) for name in ("target", "draft", "drafters", "seeded"))


def test_a_pair_that_there_is_not_has_no_parts(tmp_path) -> None:
    with pytest.raises(SettingsError):
        write_pair_without("healing", "no such pair", tmp_path)


def test_weights_are_fitted_and_printed(source, scripted_command, capsys) -> None:
    rules = [
        {"match": "value.", "text": "name\n", "scores": [[4, -0.1]]},
        {"text": "wrong\n", "scores": [[5, -6.0]]},
    ]
    command = scripted_command("--exit-with-parent", rules=rules)
    assert fit.main(["--files", source, "--n", "21"], engine_command=command) == 0
    found = json.loads(capsys.readouterr().out)
    surest = found["curve"][-1]
    assert surest["precision"] == 1.0
    assert surest["shown_rate"] < 1.0
    assert found["weights"].keys() == fit.WEIGHTS.keys()


def test_the_likely_weights_by_hand() -> None:
    """With the bias alone the chance is the share of right examples: log(3 / 1)."""
    nothing = dict.fromkeys(fit.WEIGHTS, 0.0)
    examples = [fit.Example({**nothing, "bias": 1.0}, right) for right in (True, True, True, False)]
    assert fit.fit(examples) == {**nothing, "bias": 1.099}
    with pytest.raises(ValueError, match="right and wrong"):
        fit.fit(examples[:3])


def test_the_default_files_are_there_wherever_this_runs(capsys) -> None:
    assert main(["--n", "1"], engine_command=["/bin/false"]) == 2
    assert "the engine did not start" in capsys.readouterr().err
    assert os.sep in fit.__file__
