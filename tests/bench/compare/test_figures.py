"""From keys, scores and continuations to figures by name, small enough to do by hand."""

from dataclasses import asdict

import pytest

from bench.compare.contenders import contenders
from bench.compare.figures import acceptance, distributions, figures, names, pass_ms_by_width
from bench.compare.measured import Decoded, Measured
from bench.compare.measures import MEASURES, difference, interval
from bench.keystrokes import Keystroke
from bench.quality.scores import NOTHING, Score
from completion_server.pairs import load_pairs
from completion_server.protocol import DraftCount, Round, Usage


def measured() -> Measured:
    return Measured(contenders("embedded", load_pairs())[0])


def key(ms: float, *, text: str = "x", outcome: str = "engine", usage: Usage | None = None) -> Keystroke:
    usage = usage or Usage(ttft_ms=ms / 2, e2e_ms=ms)
    return Keystroke("k", text, ms, {"outcome": outcome, **asdict(usage)})


def score(similarity: float, *, exact: bool = False) -> Score:
    return Score(True, exact, 3, similarity, True, False)


def test_without_anything_measured_every_name_is_there_and_empty() -> None:
    found = figures(measured())
    assert list(found) == names()
    assert set(found.values()) == {None}


def test_figures_of_keys() -> None:
    one = measured()
    one.typed = [[key(100.0), key(200.0)], [key(40.0, outcome="from-cache"), key(50.0, text="", outcome="empty")]]
    one.wasted_tokens = 7
    found = figures(one)
    assert (found["keystrokes"], found["shown"], found["from_cache"], found["wasted_tokens"]) == (4, 3, 1, 7)
    assert found["goodput"] == pytest.approx(2 / 3, abs=1e-4)  # 200 ms is too late
    assert (found["keystroke_to_suggestion_p50_ms"], found["keystroke_to_suggestion_p95_ms"]) == (100.0, 200.0)
    assert found["cursors"] is None


def test_figures_of_cursors_and_of_continuations() -> None:
    one = measured()
    one.judged = [[score(1.0, exact=True), NOTHING], [score(0.5)]]
    rounds = (Round(10.0, 1, "", 0, 0), Round(30.0, 4, "tail", 3, 2))
    one.decoded = [Decoded(40, Usage(completion_tokens=10, e2e_ms=100.0, rounds=rounds))] * 2
    one.memory_bytes, one.load_s = 3 * 2**20, 1.5
    found = figures(one)
    assert (found["cursors"], found["shown_at_cursors"], found["edit_similarity"]) == (3, 2, 0.5)
    assert (found["tokens_per_s"], found["characters_per_s"]) == (100.0, 400.0)
    assert (found["pass_p50_ms"], found["pass_p95_ms"]) == (10.0, 30.0)
    assert (found["memory_mib"], found["load_s"]) == (3.0, 1.5)
    assert pass_ms_by_width(one) == {"1": {"passes": 2, "p50": 10.0}, "4": {"passes": 2, "p50": 30.0}}


def test_drafts_are_counted_by_drafter_and_position() -> None:
    one = measured()
    drafts = (DraftCount("tail", 0, 3, 2), DraftCount("tail", 2, 1, 1), DraftCount("n-gram", 0, 1, 0))
    by_engine = key(10.0, usage=Usage(drafts=drafts))
    one.typed = [[by_engine, key(1.0, outcome="from-cache", usage=Usage(drafts=drafts))], [by_engine]]
    assert acceptance(one) == {
        "n-gram": [{"drafted": 2, "accepted": 0}],
        "tail": [
            {"drafted": 6, "accepted": 4},
            {"drafted": 0, "accepted": 0},
            {"drafted": 2, "accepted": 2},
        ],
    }


def test_a_distribution_is_its_percentiles() -> None:
    one = measured()
    one.typed = [[key(float(ms)) for ms in range(200, 0, -1)]]
    curve = distributions(one)["keystroke_to_suggestion_ms"]
    assert (len(curve), curve[0], curve[49], curve[99]) == (100, 2.0, 100.0, 200.0)
    assert distributions(measured()) == {"keystroke_to_suggestion_ms": [], "ttft_ms": []}


def test_every_measure_is_a_figure_and_comes_to_the_same() -> None:
    one = measured()
    one.typed = [[key(20.0 * number), key(90.0)] for number in range(1, 11)]
    one.judged = [[score(number / 10), NOTHING] for number in range(10)]
    one.decoded = [Decoded(40, Usage(completion_tokens=number, e2e_ms=100.0)) for number in range(1, 9)]
    found = figures(one)
    for name, measure in MEASURES.items():
        assert measure.statistic(measure.turns(one)) == pytest.approx(found[name], abs=1e-3), name
        low, high = interval(measure, one) or (1.0, 0.0)
        assert low - 1e-3 <= found[name] <= high + 1e-3, name
        assert difference(measure, one, one) == (0.0, 0.0), name
