"""What a reply tells of its rounds adds up to its other counters, and its stages to no more than its time."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from completion_server.protocol import MAX_ROUNDS, Decoding, Limits, Usage
from speculative import FixedPolicy

CODE = "def add(left, right):\n    return left + right\n\n\nclass Point:\n    def __init__(self, x, y):\n        "
LONG = "".join(f"value_{i} = add({i}, {i * 7 % 13})\n" for i in range(24))

MakeDriver = Callable[..., Any]


def stages_ms(usage: Usage) -> float:
    before = usage.queue_ms + usage.tokenize_ms + usage.match_ms + usage.prefill_ms
    return before + sum(turn.ms for turn in usage.rounds)


@pytest.mark.parametrize("k", [0, 1, 4])
def test_rounds_and_drafts_add_up(make_driver: MakeDriver, k: int) -> None:
    driver = make_driver(draft=True, policy=FixedPolicy(k))
    driver.ask(CODE)
    usage = driver.ask(CODE).usage
    assert len(usage.rounds) == usage.target_passes > 0
    assert sum(turn.drafted for turn in usage.rounds) == usage.drafted_tokens
    assert sum(turn.accepted for turn in usage.rounds) == usage.accepted_tokens
    drafted: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for count in usage.drafts:
        drafted[count.drafter] += count.drafted
        accepted[count.drafter] += count.accepted
    assert (+drafted, +accepted) == (Counter(usage.drafted_by), Counter(usage.accepted_by))
    assert all(bool(turn.drafter) == (turn.drafted > 0) for turn in usage.rounds)


def test_the_first_round_has_the_tail_of_the_prompt_in_it(make_driver: MakeDriver) -> None:
    driver = make_driver(policy=FixedPolicy(0), chunk=32)
    usage = driver.ask(LONG, decoding=Decoding(drafting=False)).usage
    assert usage.prefill_passes > 0
    assert usage.prefill_ms > 0
    first, *others = usage.rounds
    assert 1 < first.width <= 32
    assert all(turn.width == 1 for turn in others)


def test_the_stages_fit_into_the_time(make_driver: MakeDriver) -> None:
    usage = make_driver(draft=True).ask(LONG).usage
    assert 0 < stages_ms(usage) <= usage.e2e_ms + 1e-6


def test_a_long_request_tells_of_its_first_rounds(make_driver: MakeDriver) -> None:
    driver = make_driver(policy=FixedPolicy(0))
    usage = driver.ask(CODE, limits=Limits(max_tokens=100, max_lines=99)).usage
    assert len(usage.rounds) == min(MAX_ROUNDS, usage.target_passes)
