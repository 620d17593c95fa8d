"""Who waited for how long, by hand: until an answer to the key or to a later one."""

from hypothesis import given
from hypothesis import strategies as st

from bench.keystrokes import Keystroke
from bench.replay.presses import Press, waits


def press(at, replied, outcome="engine", first=None):
    key_ms = 1e3 * (replied - at)
    e2e = key_ms - 2.0
    ttft = e2e if first is None else 1e3 * (first - at) - 2.0
    return Press(Keystroke("k", "text", key_ms, {"outcome": outcome, "e2e_ms": e2e, "ttft_ms": ttft}), at)


def test_a_superseded_key_waits_for_a_later_one():
    presses = [press(1.0, 1.1, "superseded"), press(1.1, 1.5, first=1.25), press(2.0, 2.2, "superseded")]
    first, second = waits(presses)  # nothing came behind the third
    assert (first.by, second.by) == (presses[1], presses[1])
    assert [round(wait.whole_ms, 6) for wait in (first, second)] == [500.0, 400.0]
    assert [round(wait.first_ms, 6) for wait in (first, second)] == [250.0, 150.0]


def test_a_later_key_may_be_answered_first():
    presses = [press(1.0, 3.0), press(1.2, 1.3)]
    assert [round(wait.whole_ms, 6) for wait in waits(presses)] == [300.0, 100.0]


@given(st.lists(st.tuples(st.floats(0.001, 2), st.floats(0.001, 2), st.booleans()), max_size=20))
def test_nobody_waits_longer_than_for_the_own_answer(keys):
    at, presses = 0.0, []
    for gap, took, answered in keys:
        at += gap
        presses.append(press(at, at + took, "engine" if answered else "superseded"))
    found = {id(wait.press): wait for wait in waits(presses)}
    for one in presses:
        if one.answered:
            assert found[id(one)].whole_ms <= one.stroke.key_ms + 1e-6
        elif id(one) in found:
            assert found[id(one)].by.at > one.at
