"""The ratios of `bench.scale`, from keys whose arithmetic is done by hand."""

from bench import scale_report
from bench.keystrokes import Keystroke
from bench.scale_report import Beside, by_editors, by_size, cold_beside_warm, differing, figures, met, ratios, reached


def key(key_ms=50.0, text="x", outcome="engine", **trace):
    times = {"ttft_ms": 1.0, "first_tokens_ms": 1.0, "prompt_tokens": 500, "computed_tokens": 1, "prefill_passes": 0}
    return Keystroke("k", text, key_ms, {"outcome": outcome, **times, **trace})


def test_only_what_the_engine_answered_is_measured():
    found = figures([key(10.0), key(30.0), key(1.0, outcome="from-cache"), key(1.0, outcome="error")])
    assert found["keystroke_to_suggestion_ms"] == {"p50": 10.0, "p95": 30.0, "p99": 30.0}
    assert found["keys"] == 2
    assert found["failed"] == 1


def test_ratios_and_their_bars():
    parts = {
        "by_file_lines": by_size({"500": [key(10.0)], "5000": [key(8.0)], "50000": [key(9.0)]}),
        "by_context_tokens": by_size({"4000": [key(30.0)], "500": [key(10.0)]}),
        "by_editors": by_editors({"1": [[key(10.0)]], "4": [[key(20.0)], [key(24.0)]]}),
    }
    found = ratios(parts)
    assert found == {"file_lines": 1.25, "context_tokens": 3.0, "editors": 2.4}
    assert met(found) == {"file_lines": False, "context_tokens": False, "editors": True}


def test_nothing_measured_is_no_bar_met():
    assert ratios({}) == {}
    assert met({"editors": None}) == {"editors": False}


def test_where_the_engine_answered_nothing_there_is_no_ratio():
    failed = [key(outcome="error")]
    parts = {"by_file_lines": by_size({"500": failed, "5000": [key()]}), "by_editors": by_editors({"1": [failed]})}
    assert ratios(parts) == {"file_lines": None, "editors": None}
    assert cold_beside_warm(Beside([(key(), failed[0])], failed))["delay_ms"] == {
        "first_tokens": None,
        "suggestion": None,
    }


def test_the_p95_of_each_editor():
    [size] = by_editors({"2": [[key(1.0)], [key(3.0)]]}).values()
    assert size["p95_of_each"] == [1.0, 3.0]
    assert size["keys"] == 2


def test_prompts_that_did_not_get_as_long_are_left_out():
    found = {"500": [key()], "4000": [key(prompt_tokens=3_000)], "1000": [key(prompt_tokens=1_099)]}
    assert list(reached(found)) == ["500", "1000"]
    assert scale_report.TOLERANCE == 0.1


def test_the_delay_is_taken_key_by_key():
    pairs = [
        (key(100.0, first_tokens_ms=40.0), key(150.0, first_tokens_ms=60.0)),
        (key(200.0, first_tokens_ms=80.0), key(300.0, first_tokens_ms=130.0)),
        (key(100.0, first_tokens_ms=40.0), key(170.0, first_tokens_ms=70.0)),
    ]
    found = cold_beside_warm(Beside(pairs, [key(first_tokens_ms=600.0, prefill_passes=9)]))
    assert found["chunk_ms"] == 60.0
    assert found["delay_ms"] == {"first_tokens": 30.0, "suggestion": 70.0}
    assert found["delay_chunks"] == {"first_tokens": 0.5, "suggestion": 1.1667}
    assert ratios({"cold_beside_warm": found}) == {"cold_beside_warm": 0.5}


def test_suggestions_that_differ_between_documents():
    assert differing({"500": [key(text="a"), key(text="b")], "5000": [key(text="a"), key(text="c")]}) == 1
