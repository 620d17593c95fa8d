"""Typing while the pair changes: who waited how long, by hand, and the whole bench on an engine by script."""

import json

import pytest

from bench.keystrokes import Keystroke
from bench.replay.presses import Press
from bench.switch import main, report


def press(pressed, replied, phase, outcome):
    return Press(Keystroke("k", "", 1e3 * (replied - pressed), {"outcome": outcome}), pressed, phase)


def test_a_superseded_key_has_waited_for_a_later_one():
    found = report(
        [
            press(0.0, 0.05, "before", "engine"),
            press(1.0, 1.1, "during", "superseded"),  # answered, with nothing; the next one brings something at 1.5
            press(1.1, 1.5, "during", "engine"),
            press(2.0, 2.02, "after", "from-cache"),
            press(3.0, 3.1, "after", "superseded"),  # nothing came any more
        ]
    )
    assert (found["keys"], found["failed"]) == (5, 0)
    assert found["longest_wait_ms"] == {"before": 50.0, "during": 500.0, "after": 20.0}
    assert found["wait_ms"]["during"]["p50"] == pytest.approx(400.0)


def test_a_failed_key_is_counted():
    keys = [press(0.0, 0.1, "during", outcome) for outcome in ("error", "unavailable", "loading", "empty")]
    assert report(keys)["failed"] == 3
    assert report(keys)["longest_wait_ms"]["after"] is None


@pytest.fixture
def arguments(tmp_path):
    file = tmp_path / "source.py"
    file.write_text("".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(60)))
    return ["--files", str(file), "--keys", "10", "--rate", "100", "--json"]


def test_a_switch_of_an_engine_by_script(arguments, scripted_command, capsys):
    command = scripted_command("--exit-with-parent", rules=[{"text": "y\n"}], pairs=["other"], load_ms=50)
    assert main([*arguments, "--to", "other"], engine_command=command) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["from"], result["to"], result["in_use"]) == ("embedded", "other", "other")
    assert (result["failed"], result["engine_pause_ms"]) == (0, 0)
    assert result["keys"] > 20
    assert result["wait_ms"]["before"]["p95"] > 0


def test_a_pair_that_cannot_be_used_is_one_line(arguments, scripted_command, capsys):
    command = scripted_command("--exit-with-parent", rules=[{"text": "y\n"}])
    assert main([*arguments, "--to", "nonsense"], engine_command=command) == 2
    assert capsys.readouterr().err == "switch: no pair is called 'nonsense'; there are: scripted\n"
    assert main([*arguments, "--pair", "nonsense"]) == 2
    assert "no pair is called 'nonsense'" in capsys.readouterr().err
