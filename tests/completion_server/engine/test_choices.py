"""Alternatives: different, the same for a seed, samples of the target, and nobody else waits for them."""

from collections.abc import Callable
from typing import Any

import pytest

from completion_server.engine.choices import TEMPERATURE, TOP_P, TRIES, Choices
from completion_server.engine.job import Job
from completion_server.protocol import (
    Alternative,
    Cancelled,
    Complete,
    Context,
    Decoding,
    DraftCount,
    Error,
    Limits,
    Result,
    TokenScore,
    Usage,
)

MakeDriver = Callable[..., Any]

CODE = "def add(left, right):\n    return left + right\n\n\ndef sub(left, right):\n    return"
LIMITS = Limits(max_tokens=12, max_lines=99)
DECODING = Decoding(top_k=6, seed=5)  # the tiny model has many unlikely tokens
THREE = {"alternatives": 3, "limits": LIMITS, "decoding": DECODING}


# -- what is found -------------------------------------------------------------------------------------------------


def choices(alternatives: int = 3, **decoding: Any) -> Choices:
    request = Complete(7, Context("d", 1, "", ""), LIMITS, Decoding(**decoding), True, alternatives)
    return Choices(Job(1, 1, request, 0.0, lambda _: None, lambda _: True), request)


def said(text: str, **usage: Any) -> Result:
    return Result(7, text, "end-of-line", Usage(**usage), (TokenScore(len(text), -1.0),))


def other(text: str) -> Alternative:
    return Alternative(text, "end-of-line", (TokenScore(len(text), -1.0),))


def test_the_reply_comes_when_all_have_come_and_in_the_order_of_seeds() -> None:
    made = choices(seed=40)
    assert [(number, branch.decoding.seed) for number, branch in made.due()] == [(1, 41), (2, 42)]
    assert made.due() == []
    assert made.take(2, said("b")) is None
    assert made.take(None, said("a")) is None
    reply = made.take(1, said("c"))
    assert isinstance(reply, Result)
    assert (reply.text, reply.alternatives) == ("a", (other("c"), other("b")))
    assert made.due() == []


def test_branches_are_sampled_and_stream_nothing() -> None:
    (_, branch), _ = choices(top_k=3).due()
    assert (branch.decoding.temperature, branch.decoding.top_p, branch.decoding.top_k) == (TEMPERATURE, TOP_P, 3)
    assert (branch.stream, branch.alternatives) == (False, 1)
    (_, branch), _ = choices(temperature=0.3, top_p=0.5).due()
    assert (branch.decoding.temperature, branch.decoding.top_p) == (0.3, 0.5)


@pytest.mark.parametrize("alike", ["a = 1", "  a=1\nand more", "", " \n "])
def test_what_is_alike_or_empty_is_tried_again_with_other_seeds(alike: str) -> None:
    made = choices()
    made.due()
    made.take(None, said("a = 1\nb"))
    assert made.take(1, said("c")) is None
    assert made.take(2, said(alike)) is None
    assert [number for number, _ in made.due()] == [3]
    reply = made.take(3, said("d"))
    assert isinstance(reply, Result)
    assert reply.alternatives == (other("c"), other("d"))


def test_fewer_are_found_where_all_say_the_same() -> None:
    made = choices()
    made.take(None, said("a")) if made.due() else pytest.fail("no branch")
    reply = None
    started = 2
    for number in range(1, 2 * TRIES + 1):
        assert reply is None
        reply = made.take(number, said("a"))
        started += len(made.due())
    assert isinstance(reply, Result)
    assert (reply.alternatives, started) == ((), 2 * TRIES)


def test_a_branch_that_fails_is_only_missing_and_costs_its_tries() -> None:
    made = choices(2)
    made.due()
    made.take(None, said("a"))
    assert made.take(1, Error(7, "internal", "")) is None
    assert [number for number, _ in made.due()] == [2]
    reply = made.take(2, Error(7, "internal", ""))
    assert isinstance(reply, Result)
    assert (reply.text, reply.alternatives) == ("a", ())


def test_where_the_suggestion_itself_fails_that_is_the_reply_and_branches_stop() -> None:
    made = choices()
    made.due()
    assert made.cancelled is None
    assert made.take(None, Error(7, "internal", "x")) == Error(7, "internal", "x")
    assert made.cancelled is not None
    assert made.take(1, said("b")) is None
    assert made.take(2, said("c")) is None
    assert made.due() == []


def test_usage_counts_the_prompt_once_and_the_work_of_all() -> None:
    made = choices(2)
    made.due()
    counted: dict[str, Any] = {
        "completion_tokens": 5,
        "drafted_by": {"n-gram": 3},
        "accepted_by": {"n-gram": 2},
        "target_passes": 4,
    }
    counted["drafts"] = (DraftCount("n-gram", 0, 3, 2),)
    made.take(None, said("a", prompt_tokens=9, cached_tokens=4, computed_tokens=5, e2e_ms=2.0, ttft_ms=1.0, **counted))
    reply = made.take(1, said("b", prompt_tokens=9, cached_tokens=8, computed_tokens=1, e2e_ms=3.0, **counted))
    assert isinstance(reply, Result)
    assert reply.usage == Usage(
        prompt_tokens=9,
        cached_tokens=4,
        computed_tokens=5,
        completion_tokens=10,
        drafted_tokens=6,
        accepted_tokens=4,
        drafted_by={"n-gram": 6},
        accepted_by={"n-gram": 4},
        target_passes=8,
        drafts=(DraftCount("n-gram", 0, 6, 4),),
        ttft_ms=1.0,
        e2e_ms=3.0,
    )


# -- in the engine -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draft", [False, True])
@pytest.mark.parametrize("slots", [1, 2, 4])
def test_alternatives_are_what_sampled_requests_say_alone(make_driver: MakeDriver, draft: bool, slots: int) -> None:
    """So they are drawn from the target, whatever drafts and however many slots there are."""
    driver = make_driver(plain_text=True, draft=draft, slots=slots)
    result = driver.ask(CODE, **THREE)
    alone = make_driver(plain_text=True)
    assert result.text == alone.ask(CODE, limits=LIMITS).text
    seeds = {DECODING.seed + i: Decoding(TEMPERATURE, 6, TOP_P, DECODING.seed + i) for i in range(1, 2 * TRIES + 1)}
    sampled = {seed: alone.ask(CODE, limits=LIMITS, decoding=decoding) for seed, decoding in seeds.items()}
    found = {(answer.text, answer.finish): answer.scores for answer in sampled.values()}
    assert len(result.alternatives) == 2
    for alternative in result.alternatives:
        scores = found[(alternative.text, alternative.finish)]
        assert [score.end for score in alternative.scores] == [score.end for score in scores]
        assert [s.logprob for s in alternative.scores] == pytest.approx([s.logprob for s in scores])
    first_lines = {text.strip().partition("\n")[0] for text in (result.text, *(a.text for a in result.alternatives))}
    assert len(first_lines) == 3


def test_the_same_seed_gives_the_same_alternatives_and_another_gives_others(make_driver: MakeDriver) -> None:
    def texts(driver: Any, seed: int, drafting: bool = True) -> list[str]:
        options = {**THREE, "decoding": Decoding(top_k=6, seed=seed, drafting=drafting)}
        return [alternative.text for alternative in driver.ask(CODE, **options).alternatives]

    driver = make_driver(plain_text=True, draft=True)
    first = texts(driver, 1)
    assert texts(driver, 1) == first == texts(make_driver(plain_text=True), 1, drafting=False)
    assert texts(driver, 100) != first


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_the_prompt_is_computed_once(make_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch, slots: int) -> None:
    driver = make_driver(plain_text=True, slots=slots)
    fed: list[int] = []
    forward = driver.engine.pair.target.forward

    def spy(memory: Any, feeds: Any) -> Any:
        fed.extend(position for feed in feeds for position in range(feed.start, feed.start + len(feed.tokens)))
        return forward(memory, feeds)

    monkeypatch.setattr(driver.engine.pair.target, "forward", spy)
    usage = driver.ask(CODE, **THREE).usage
    assert usage.cached_tokens + usage.computed_tokens == usage.prompt_tokens
    prompt = [position for position in fed if position < usage.prompt_tokens - 1]
    assert sorted(prompt) == list(range(usage.prompt_tokens - 1))


@pytest.mark.parametrize("slots", [1, 3])
def test_cancelled_between_any_two_steps_there_is_one_reply_and_no_further_pass(
    make_driver: MakeDriver, slots: int
) -> None:
    driver = make_driver(plain_text=True, slots=slots)
    expected = make_driver(plain_text=True).ask(CODE, limits=LIMITS).text
    steps = 0
    while True:
        asked = driver.submit(CODE, **THREE)
        for _ in range(steps):
            driver.engine.step()
        if asked.replies:
            break
        asked.job.cancel("client")
        passes = driver.engine.pair.target.passes
        driver.run()  # checks that nobody owns a slot in the end
        assert driver.engine.pair.target.passes == passes
        assert isinstance(asked.last, Cancelled)
        driver.poison_stale()
        assert driver.ask(CODE, limits=LIMITS).text == expected
        steps += 1
    assert steps > 10
    tally = driver.engine.snapshot()
    assert (tally.completed, tally.cancelled, tally.failed) == (steps + 1, steps, 0)


def test_another_client_is_served_as_if_there_were_no_alternatives(make_driver: MakeDriver) -> None:
    """All slots are taken by one request's rows; the other's key gets one at once and is done when it is alone."""

    def passes(alternatives: int) -> int:
        driver = make_driver(plain_text=True, slots=2)
        asked = driver.submit(CODE, client=1, **{**THREE, "alternatives": alternatives})
        while driver.engine.pair.slots.used < min(2, alternatives):
            driver.engine.step()
        plain = Decoding(drafting=False)  # so that a pass is a token
        key = driver.submit("x =", client=2, document="b.py", limits=LIMITS, decoding=plain)
        steps = 0
        while not key.replies:
            driver.engine.step()
            steps += 1
        driver.run()
        assert asked.result.text == make_driver(plain_text=True).ask(CODE, limits=LIMITS).text
        assert len(asked.result.alternatives) == alternatives - 1
        return steps

    assert passes(alternatives=3) == passes(alternatives=1)


def test_a_suggestion_that_fails_takes_its_branches_with_it(
    make_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = make_driver(plain_text=True)
    asked = driver.submit(CODE, **THREE)
    while len(driver.engine._work) < 3:
        driver.engine.step()
    first = driver.engine._work[asked.job.key].sequence
    monkeypatch.setattr(first, "take", lambda _: 1 / 0)
    driver.run()
    assert isinstance(asked.last, Error)
    assert driver.ask(CODE, limits=LIMITS).text == make_driver(plain_text=True).ask(CODE, limits=LIMITS).text


def test_copies_for_branches_are_the_first_to_be_filled_again(make_driver: MakeDriver) -> None:
    driver = make_driver(plain_text=True, slots=4)
    driver.ask("x = 1\n", document="b.py", limits=LIMITS)
    driver.ask(CODE, **THREE)
    assert driver.engine.pair.slots.used == 2
    assert driver.ask(CODE, limits=LIMITS).usage.computed_tokens == 1
