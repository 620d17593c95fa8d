"""Keys from real files, the same for the same seed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.keystrokes import position
from bench.typist import Source, keys_of, sessions

TEXT = "".join(f"def f{n}(x):\n    y = x + {n}\n\n    return y\n\n\n" for n in range(40))
SOURCE = Source(Path("f.py"), TEXT)


def test_a_line_break_and_its_indentation_are_one_key():
    assert keys_of("a:\n    b\r\n\tc\n\nd") == ["a", ":", "\n    ", "b", "\r\n\t", "c", "\n", "\n", "d"]


@given(text=st.text())
def test_keys_spell_the_text(text):
    assert "".join(keys_of(text)) == text


@given(keys=st.integers(1, 400), seed=st.integers())
def test_sessions_type_what_the_author_wrote(keys, seed):
    plan = sessions([SOURCE], keys, seed)
    assert sum(len(session.keys) for session in plan) == keys
    for session in plan:
        typed = session.before + "".join(session.keys)
        assert TEXT.startswith(typed)
        assert session.after[:1] in ("\n", "")
        assert TEXT.endswith(session.after)
        assert "\n" not in TEXT[len(typed) : len(TEXT) - len(session.after)]
        assert len(session.before) > 0.4 * len(TEXT)
        assert session.keys[0].strip()


def test_the_same_seed_gives_the_same_sessions():
    assert sessions([SOURCE], 300, 7) == sessions([SOURCE], 300, 7) != sessions([SOURCE], 300, 8)


def test_files_take_turns():
    other = Source(Path("g.py"), TEXT)
    assert [s.path.name for s in sessions([SOURCE, other], 350, 1, per_session=100)] == ["f.py", "g.py", "f.py", "g.py"]


def test_files_too_short_to_type_in_are_left_out():
    short = Source(Path("s.py"), "x")
    assert {s.path.name for s in sessions([short, SOURCE], 300, 1)} == {"f.py"}
    with pytest.raises(ValueError, match="lines"):
        sessions([short], 10, 1)


def test_position():
    assert position("") == (0, 0)
    assert position("ab\n\ncd") == (2, 2)
