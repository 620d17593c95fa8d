"""Stages in order, by hand, and that they make up the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.numbers.stages import all_stages, engine_stages
from completion_server.protocol import FrontTimes, Round, Stage, Usage

USAGE = Usage(
    queue_ms=1, tokenize_ms=1.5, match_ms=0.5, e2e_ms=50,
    rounds=(Round(17, 4, "n-gram", 3, 2), Round(15, 1, "", 0, 0)),
)  # fmt: skip
TIMES = FrontTimes(key_ms=15, server_way_ms=3, sent_ms=2, engine_ms=54, trimmed_ms=6, returned_ms=1, painted_ms=7)


def named(stages: tuple[Stage, ...]) -> list[tuple[str, float]]:
    return [(stage.name, stage.ms) for stage in stages]


ENGINE = [
    ("queued", 1),
    ("tokenized", 1.5),
    ("prefix matched", 0.5),
    ("round 1: n-gram 2/3, width 4", 17),
    ("round 2: no draft, width 1", 15),
    ("last token", 15),
]
FIRST = [("key", 15), ("way to the server", 3), ("sent", 2)]
LAST = [("trimmed", 6), ("returned", 1), ("painted", 7)]


def test_those_of_the_engine_are_in_order_and_make_up_its_time() -> None:
    assert named(engine_stages(USAGE)) == ENGINE


def test_from_the_key_to_the_paint() -> None:
    found = named(all_stages(engine_stages(USAGE), 50, TIMES))
    assert found == [*FIRST, ("way to the engine", 4), *ENGINE, *LAST]
    assert sum(took for _, took in found) == 15 + 3 + 2 + 54 + 6 + 1 + 7


def test_a_client_that_says_nothing_leaves_out_the_two_ends() -> None:
    silent = FrontTimes(sent_ms=2, engine_ms=54, trimmed_ms=6, returned_ms=1)
    found = named(all_stages(engine_stages(USAGE), 50, silent))
    assert found == [("sent", 2), ("way to the engine", 4), *ENGINE, ("trimmed", 6), ("returned", 1)]


def test_what_was_answered_with_a_head_ends_with_the_engine() -> None:
    head = FrontTimes(15, 3, 2, 0, 6, 1, 7)
    assert named(all_stages(engine_stages(USAGE), 50, head)) == [*FIRST, *ENGINE]


def test_what_was_typed_through_has_none_of_the_engine() -> None:
    kept = FrontTimes(key_ms=15, server_way_ms=3, returned_ms=1, painted_ms=7)
    assert named(all_stages((), 0.0, kept)) == [*FIRST[:2], *LAST[1:]]


@pytest.mark.parametrize("engine_ms", [0.001, 49.9])
def test_no_way_is_shorter_than_nothing(engine_ms: float) -> None:
    assert "way to the engine" not in dict(named(all_stages(engine_stages(USAGE), 50, FrontTimes(engine_ms=engine_ms))))


MS = st.floats(0, 1e6)


@given(st.lists(MS, min_size=4, max_size=4), st.lists(MS, max_size=64), MS)
def test_whatever_was_measured_no_stage_is_negative_and_all_are_at_least_the_whole(
    parts: list[float], rounds: list[float], e2e: float
) -> None:
    usage = Usage(
        queue_ms=parts[0], tokenize_ms=parts[1], match_ms=parts[2], prefill_ms=parts[3], e2e_ms=e2e,
        rounds=tuple(Round(took, 1, "", 0, 0) for took in rounds),
    )  # fmt: skip
    found = [took for _, took in named(engine_stages(usage))]
    assert all(took >= 0 for took in found)
    assert sum(found) >= e2e - 0.001 * (len(rounds) + 5)
