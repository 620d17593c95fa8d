"""What the bench of tracing makes of its keys, by hand, and whom it traces."""

import pytest

from bench.tracing import HalfRecorder, report, without_rounds
from completion_server.protocol import Complete, Context, Error, KeyReport, Report, Result, Round, State, Usage

REQUEST = Complete(1, Context("d", 1, "", "", "go"))


def test_each_key_is_held_against_itself() -> None:
    found = report([(10.1, 10.0), (40.4, 40.0), (20.2, 20.0)], seed=0)
    assert (found["keys"], found["traced_ms"], found["bare_ms"]) == (3, 20.2, 20.0)
    assert (found["ratio"], found["difference_ms"]) == (pytest.approx(1.01), pytest.approx(0.2))
    assert found["interval_95"]["ratio"] is None  # of one block


def test_the_interval_of_keys_that_all_cost_the_same_is_a_point() -> None:
    assert report([(10.1, 10.0)] * 500, seed=0)["interval_95"]["ratio"] == (1.01, 1.01)


def test_without_keys_there_are_no_figures() -> None:
    assert report([], seed=0)["ratio"] is None


def test_one_client_of_two_is_traced() -> None:
    recorder = HalfRecorder(())
    told = Report("vim", (KeyReport("from-cache", "go", 1, 1.0, 0.0),))
    for connection in (1, 2):
        recorder.answered("lsp", "p", REQUEST, Error(1, "internal", ""), connection=connection)
        recorder.reported("p", told, client=f"client {connection}", connection=connection)
    assert [trace.client for trace in recorder.latest(9)] == ["lsp", "client 1"]


def test_the_other_is_told_of_no_rounds() -> None:
    usage = Usage(completion_tokens=3, rounds=(Round(1.0, 1, "", 0, 0),))
    assert without_rounds(Result(1, "x", "loop", usage)) == Result(1, "x", "loop", Usage(completion_tokens=3))
    assert without_rounds(State("ready", "p")) == State("ready", "p")
