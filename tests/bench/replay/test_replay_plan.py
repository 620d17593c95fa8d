"""The typing model: the same for a seed, leaves what the author wrote, and keeps to its rhythm."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.percentiles import percentile
from bench.replay.actions import Delete, Insert, Move, Open, Switch
from bench.replay.plan import human_plan, steady
from bench.replay.rhythm import Rhythm
from bench.typist import Session, Source

FUNCTION = "def function_{n}(argument):\n    value = another_function(argument, {n})\n\n    return value\n\n\n"
TEXT = "".join(FUNCTION.format(n=n) for n in range(60))
SOURCES = [Source(Path(f"{name}.py"), TEXT.replace("value", name)) for name in ("one", "two", "three")]


def written(plan):
    """The documents as they stand when the plan is done."""
    texts, cursors, name = {}, {}, ""
    for action in plan:
        match action:
            case Open(document=name):
                texts[name] = action.text
                cursors[name] = offset(action.text, action.line, action.column)
            case Switch(document=name):
                pass
            case Move():
                cursors[name] = offset(texts[name], action.line, action.column)
            case _:
                cursor, new = cursors[name], getattr(action, "text", "")
                texts[name] = texts[name][: cursor - getattr(action, "count", 0)] + new + texts[name][cursor:]
                cursors[name] = cursor - getattr(action, "count", 0) + len(new)
    return texts


def offset(text, line, column):
    return sum(map(len, text.splitlines(keepends=True)[:line])) + column


@given(keys=st.integers(1, 400), seed=st.integers())
def test_in_the_end_stands_what_the_authors_wrote(keys, seed):
    plan = human_plan(SOURCES, keys, seed)
    assert sum(isinstance(action, Insert) and not action.slip for action in plan) >= keys
    for name, text in written(plan).items():
        author = next(source.text for source in SOURCES if name.startswith(source.path.stem))
        lacks = len(author) - len(text)  # the rest of the line that was typed last
        at = next(at for at in range(len(text) + 1) if text[at:] == author[at + lacks :])
        assert author.startswith(text[:at])
        assert "\n" not in author[at : at + lacks]


def test_the_same_seed_gives_the_same_plan():
    assert human_plan(SOURCES, 200, 7) == human_plan(SOURCES, 200, 7) != human_plan(SOURCES, 200, 8)


def test_times_go_on_and_stay_within_a_rhythm():
    plan = human_plan(SOURCES, 3_000, 1)
    keys = [action for action in plan if isinstance(action, Insert | Delete)]
    gaps = [after.at - before.at for before, after in pairwise(keys)]
    assert all(after.at >= before.at for before, after in pairwise(plan))
    assert min(gaps) >= Rhythm().least_ms / 1e3 - 1e-9
    bursts = [gap for gap in gaps if gap < 1.0]
    assert 4.8 < len(bursts) / sum(bursts) < 6.2  # keys a second while no pause is made
    assert 0.15 < percentile(gaps, 0.5) < 0.18
    deletes = sum(isinstance(key, Delete) for key in keys) / len(keys)
    assert 0.05 < deletes < 0.075


def test_places_and_files_change():
    plan = human_plan(SOURCES, 1_000, 1)
    for kind, least in ((Open, 4), (Switch, 3), (Move, 4)):
        assert sum(isinstance(action, kind) for action in plan) >= least
    names = [action.document for action in plan if isinstance(action, Open)]
    assert len(set(names)) == len(names)
    assert names[0].startswith("one_0")


def test_documents_of_another_editor_have_other_names():
    names = {action.document for action in human_plan(SOURCES, 50, 1, name="2_0_") if isinstance(action, Open)}
    assert all(name.startswith("2_0_") for name in names)


def test_a_slip_is_taken_back_before_the_key_is_typed():
    always = Rhythm(slip=1.0, slip_goes_on=0.0, jump=0.0)
    _, *keys = human_plan(SOURCES, 6, 3, always)
    kinds = [(type(key), getattr(key, "slip", False)) for key in keys]
    assert (Insert, True) in kinds
    for number, kind in enumerate(kinds):
        if kind == (Insert, True):
            assert kinds[number + 1 : number + 3] == [(Delete, True), (Insert, False)]
            assert keys[number].text != keys[number + 2].text


def test_files_too_short_to_type_in_are_one_error():
    with pytest.raises(ValueError, match="lines"):
        human_plan([Source(Path("s.py"), "x")], 10, 1)


def test_a_steady_plan_by_hand():
    session = Session(Path("a.py"), "x\n", "\nz", ("y", "="))
    assert steady([session], 4) == [Open(0.0, "a_0.py", "x\n\nz", 1, 0), Insert(0.25, "y"), Insert(0.5, "=")]
