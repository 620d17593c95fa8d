"""The numbers of a person who does not wait, by hand."""

from bench.bootstrap import BLOCK, LEAST
from bench.keystrokes import Keystroke
from bench.limits import Limits
from bench.replay.actions import Accept, Delete, Insert, Move
from bench.replay.figures import figures, gaps_ms, key_to_suggestion_ms, taken
from bench.replay.presses import Press
from lsp.events import Event

USAGE = dict.fromkeys(
    ("cached_tokens", "computed_tokens", "drafted_tokens", "accepted_tokens", "target_passes", "prefill_passes"), 0
)
LIMITS = Limits(80.0, 150.0)


def press(at, key_ms, outcome="engine", text="x"):
    trace = {"outcome": outcome, "ttft_ms": key_ms / 2, "e2e_ms": key_ms, **USAGE}
    return Press(Keystroke("k", text, key_ms, trace), at)


PRESSES = [
    press(1.0, 100.0),  # in time: first tokens after 50 ms
    press(1.85, 50.0, "superseded", ""),
    press(2.05, 120.0),  # 60 and 120 ms from this key, 260 and 320 ms from the one before
    press(3.0, 1.0, "from-cache"),
    press(4.0, 200.0, "empty", ""),
    press(5.0, 30.0, "superseded", ""),  # nothing came after it
]


def test_figures_by_hand():
    found = figures([PRESSES], LIMITS, seed=0)
    assert found["keystroke_to_suggestion_ms"] == {"p50": 120.0, "p95": 320.0, "p99": 320.0}  # of 100, 320, 120, 200
    assert found["goodput"] == 0.75  # the superseded key was late, what showed nothing is not counted
    assert (found["keystrokes"], found["superseded"], found["from_cache"], found["failed"]) == (6, 2, 1, 0)
    assert found["ttft_ms"]["p50"] == 60.0


def test_limits_can_be_moved():
    assert figures([PRESSES], Limits(400.0, 400.0), seed=0)["goodput"] == 1.0
    assert figures([PRESSES], Limits(200.0, 10.0), seed=0)["goodput"] == 0.25


def test_editors_do_not_answer_for_one_another():
    found = figures([[press(1.0, 10.0, "superseded", "")], [press(1.1, 10.0)]], LIMITS, seed=0)
    assert found["keystroke_to_suggestion_ms"]["p99"] == 10.0
    assert key_to_suggestion_ms([press(1.0, 10.0, "superseded", "")]) == {"p50": None, "p95": None, "p99": None}


def test_intervals_are_over_blocks():
    few = figures([PRESSES], LIMITS, seed=0)["intervals"]
    assert few["goodput"] is None
    assert few["keystroke_to_suggestion_ms"] == {"p50": None, "p95": None, "p99": None}
    many = [press(float(n), 100.0 + n % 7) for n in range(LEAST * BLOCK)]
    found = figures([many], LIMITS, seed=0)
    low, high = found["intervals"]["keystroke_to_suggestion_ms"]["p50"]
    assert low <= found["keystroke_to_suggestion_ms"]["p50"] <= high
    assert found["intervals"]["goodput"] == (1.0, 1.0)
    assert found == figures([many], LIMITS, seed=0)


def test_there_is_no_mean_and_no_time_without_its_percentiles():
    found = {**figures([PRESSES], LIMITS, seed=0), **taken([], []), "gap_ms": gaps_ms(PRESSES)}
    assert not [name for name in found if "mean" in name or "average" in name]
    assert all(set(value) == {"p50", "p95", "p99"} for name, value in found.items() if name.endswith("_ms"))


def test_what_was_taken_by_hand():
    done = [Insert(0.0, "d"), Accept(0.1, "ef f():\n    "), Move(0.2, 0, 0), Insert(0.3, "x", slip=True), Delete(0.4)]
    events = [Event("1", "shown", 20, ""), Event("1", "partly-accepted", 12, ""), Event("2", "shown", 4, "")]
    found = taken(done, [*events, Event("2", "typed-through", 4, "")])
    assert found["suggestions"] == {"shown": 2, "accepted": 0, "partly_accepted": 1, "typed_through": 1}
    assert found["suggestion_acceptance_rate"] == 0.5
    assert (found["accepted_characters"], found["typed_through_characters"]) == (12, 4)
    assert found["keys_saved"] == 7  # "ef f():" and one line break, less the key that took them
    assert found["keys_saved_share"] == round(7 / 11, 4)


def test_gaps():
    assert gaps_ms([press(1.0, 1.0), press(1.25, 1.0)]) == {"p50": 250.0, "p95": 250.0, "p99": 250.0}
