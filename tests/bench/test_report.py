"""The published numbers, from keys whose arithmetic is done by hand."""

import io

import pytest
from rich.console import Console

from bench.keystrokes import Keystroke
from bench.report import differing_keys, in_time, report
from bench.screen import Frame, code_with_ghost, numbers, summary_table


def key(outcome="engine", text="x", key_ms=50.0, **trace):
    usage = dict.fromkeys(("cached_tokens", "computed_tokens", "drafted_tokens", "accepted_tokens"), 0)
    usage |= {"target_passes": 0, "prefill_passes": 0, "ttft_ms": 0.0, "e2e_ms": 0.0}
    return Keystroke("k", text, key_ms, {"outcome": outcome, **usage, **trace})


KEYS = [
    key(cached_tokens=90, computed_tokens=10, drafted_tokens=4, accepted_tokens=3, target_passes=3, prefill_passes=1),
    key(cached_tokens=99, computed_tokens=1, drafted_tokens=4, accepted_tokens=1, target_passes=2, key_ms=70.0),
    key("empty", "", cached_tokens=100, computed_tokens=0, key_ms=60.0),
    key("from-cache", key_ms=1.0),
    key("unwanted", "", key_ms=1.0),
    key("error", "", key_ms=1.0),
]


def test_a_report():
    figures = report(KEYS)
    assert figures["keystrokes"] == 6
    assert figures["shown"] == 3
    assert figures["answered_by_engine"] == 3
    assert figures["from_cache"] == 1
    assert figures["failed"] == 1
    assert figures["cached_token_ratio"] == round(289 / 300, 4)
    assert figures["computed_tokens_per_key"] == {"p50": 1, "p95": 10}
    assert figures["draft_acceptance_rate"] == 0.5
    assert figures["acceptance_length"] == 2.0  # 4 accepted in 4 rounds: a pass gains two tokens
    assert figures["keystroke_to_suggestion_ms"] == {"p50": 60.0, "p95": 70.0, "p99": 70.0}
    assert figures["goodput"] == 1.0


def test_nothing_typed_is_a_report_too():
    figures = report([])
    assert figures["keystrokes"] == 0
    assert figures["goodput"] is figures["cached_token_ratio"] is figures["acceptance_length"] is None


def test_goodput_has_two_limits():
    assert in_time(key(key_ms=150.0, e2e_ms=145.0, ttft_ms=75.0))
    assert not in_time(key(key_ms=150.1, e2e_ms=145.0, ttft_ms=75.0)), "the whole came late"
    assert not in_time(key(key_ms=150.0, e2e_ms=145.0, ttft_ms=75.1)), "the first tokens came late"
    assert in_time(key("from-cache", key_ms=2.0))


def test_a_reply_that_grew_had_its_first_tokens_by_then():
    grew = key("growing", key_ms=70.0, e2e_ms=400.0, ttft_ms=30.0, asked_engine=True)
    assert grew.by_engine
    assert in_time(grew)
    assert not key("growing", asked_engine=False).by_engine  # what all of it cost is not known


def test_goodput_is_over_keys_that_got_a_suggestion():
    assert report([key(key_ms=500.0), key(key_ms=10.0), key("empty", "", key_ms=900.0)])["goodput"] == 0.5


def test_keys_that_differ():
    assert differing_keys([key(text="a"), key(text="b")], [key(text="a"), key(text="c")]) == 1


class TestScreen:
    def test_the_ghost_stands_at_the_cursor(self):
        text = code_with_ghost("x = 1\ny = ", "\nz = 3\n", "2", room=20)
        assert text.plain == "x = 1\ny = ▏2\nz = 3"
        [span] = [span for span in text.spans if span.style == "italic bright_black"]
        assert text.plain[span.start : span.end] == "2"

    def test_numbers_only_where_the_engine_was_asked(self):
        assert numbers(key("from-cache", key_ms=1.2)) == ("typed through", "1 ms", "", "", "", "", "")
        assert numbers(KEYS[0])[3:] == ("90", "10", "4", "3")

    @pytest.mark.parametrize("height", [18, 24, 40])
    def test_everything_fits_on_the_terminal(self, height):
        frame = Frame(height)
        for _ in range(9):
            painted = frame.after("a = 1\n" * 50 + "b = ", "\n" + "c = 3\n" * 50, key("engine", text="2\n" * 12))
        console = Console(width=60, height=height, file=io.StringIO())
        assert len(console.render_lines(painted)) < height

    def test_a_summary_has_a_row_for_each_figure(self):
        assert summary_table(KEYS).row_count == 7
