"""Two files, two places, hand-made times."""

from pathlib import Path

import pytest

from bench.drafts import main, places
from bench.drafts_report import report
from bench.drafts_run import MODES, Run
from bench.typist import Source
from completion_server.protocol import DraftCount

ALONE, FOUND, MODEL, ALL = MODES
TEXT = "# a head line\n" * 5 + "    value = compute(other)\n" * 20


def run(mode, seconds, at=(0, 0), file="a.py", text="x", passes=4, drafts=()):
    return Run(mode, file, "python", at, text, 8, seconds, passes, drafts)


def four(at=(0, 0), seconds=(8.0, 4.0, 6.0, 2.0), **options):
    return [run(mode, s, at, **options) for mode, s in zip(MODES, seconds, strict=True)]


def test_ratios_are_of_seconds_for_the_same_texts():
    found = report([*four(), *four((0, 1), (8.0, 4.0, 6.0, 6.0), file="b.py")])
    assert found["tokens_per_s"] == {ALONE: 1.0, FOUND: 2.0, MODEL: 1.3333, ALL: 2.0}
    assert found["to_target_alone"][FOUND] == {"ratio": 2.0, "interval": [2.0, 2.0]}
    assert found["all_to_n_grams"]["ratio"] == 1.0
    assert found["by_file"]["a.py"]["ratio"] == 4.0
    assert found["lowest_interval_of_a_file"] == pytest.approx(1.3333)
    assert found["tokens_per_pass"][ALL] == 2.0
    assert (found["files"], found["texts"], found["differing_texts"]) == (2, 2, 0)


def test_a_text_that_differs_is_counted_once():
    assert report([*four()[:3], run(ALL, 2.0, text="y")])["differing_texts"] == 1


def test_acceptance_is_by_drafter_and_position():
    drafts = (DraftCount("model", 0, 4, 3), DraftCount("model", 1, 2, 1), DraftCount("n-gram", 0, 1, 1))
    found = report([*four()[:3], run(ALL, 2.0, drafts=drafts)])["accepted_by_position"][ALL]
    assert found["model"][:3] == [0.75, 0.5, None]
    assert found["n-gram"][:2] == [1.0, None]


def test_places_are_in_front_of_lines_and_inside_of_others():
    source = Source(Path("a.py"), TEXT)
    found = places([source, Source(Path("b.ts"), TEXT)], 6, seed=1)
    assert len(found) == 12
    assert found == places([source, Source(Path("b.ts"), TEXT)], 6, seed=1)
    for number, place in enumerate(found):
        line = place.context("x").before.rpartition("\n")[2]
        assert bool(line.strip()) == bool(number % 2)
        assert place.context("x").before + place.context("x").after == TEXT
    assert [place.language for place in found[::6]] == ["python", "typescript"]


def test_files_without_a_line_to_type_in_give_no_places():
    assert places([Source(Path("a.py"), "a\nb\n")], 3, seed=0) == []


def test_without_files_it_says_so(tmp_path, capsys):
    assert main(["--files", f"{tmp_path}/*.py"]) == 2
    assert "no text files match" in capsys.readouterr().err
