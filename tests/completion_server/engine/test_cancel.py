"""Cancel at every point of a request: only the pass in flight is finished, there is one reply, nothing is spoiled."""

from collections.abc import Callable
from typing import Any

import pytest

from completion_server.protocol import Cancelled, Limits

LONG = "".join(f"value_{i} = add({i}, {i * 7 % 13})\n" for i in range(24)) + "total = "
OPTIONS = {"limits": Limits(max_tokens=24, max_lines=99)}

MakeDriver = Callable[..., Any]


def count_passes(driver: Any, monkeypatch: pytest.MonkeyPatch, at_pass: Callable[[int], None]) -> list[int]:
    """Call `at_pass(n)` in the middle of the n-th pass of any model; returns a list that grows by one per pass."""
    passes: list[int] = []
    pair = driver.engine.pair
    for decoder in [pair.target, *([pair.draft.decoder] if pair.draft else [])]:

        def forward(memory: Any, feeds: Any, real: Any = decoder.forward) -> Any:
            passes.append(1)
            at_pass(len(passes))
            return real(memory, feeds)

        monkeypatch.setattr(decoder, "forward", forward)
    return passes


@pytest.mark.parametrize("draft", [False, True])
def test_between_any_two_steps(make_driver: MakeDriver, draft: bool) -> None:
    expected = make_driver(draft=draft).ask(LONG, **OPTIONS).text
    driver = make_driver(draft=draft)
    steps = 0
    while True:
        asked = driver.submit(LONG, **OPTIONS)
        for _ in range(steps):
            driver.engine.step()
        if asked.replies:
            break
        asked.job.cancel("client")
        passes = driver.engine.pair.target.passes
        driver.run()
        assert driver.engine.pair.target.passes == passes  # not one pass after the cancel
        assert isinstance(asked.last, Cancelled)
        driver.poison_stale()
        assert driver.ask(LONG, **OPTIONS).text == expected
        driver.engine.pair.slots.clear()
        driver.engine.disconnect(1)
        steps += 1
    assert steps > 20


@pytest.mark.parametrize("draft", [False, True])
def test_in_the_middle_of_any_pass(make_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch, draft: bool) -> None:
    """The flag is set while a pass runs, of the target or of the draft: that pass ends and no other begins."""
    expected = make_driver(draft=draft).ask(LONG, **OPTIONS).text
    driver = make_driver(draft=draft)
    current: list[Any] = []
    target_pass = 1

    def at_pass(number: int) -> None:
        if current and number == target_pass:
            current[0].job.cancel("client")

    passes = count_passes(driver, monkeypatch, at_pass)
    while True:
        passes.clear()
        current[:] = [driver.submit(LONG, **OPTIONS)]
        driver.run()
        if not isinstance(current[0].last, Cancelled):
            break
        assert len(passes) == target_pass
        current.clear()
        driver.poison_stale()
        assert driver.ask(LONG, **OPTIONS).text == expected
        driver.engine.pair.slots.clear()
        driver.engine.disconnect(1)
        target_pass += 1
    assert target_pass > 20


def test_while_it_waits_behind_another(make_driver: MakeDriver) -> None:
    """seq-cancel-queued."""
    driver = make_driver(slots=1)
    first = driver.submit(LONG, client=1)
    driver.engine.step()
    waiting = driver.submit(LONG + "x", client=2)
    driver.engine.step()
    waiting.job.cancel("client")
    driver.run()
    assert isinstance(waiting.last, Cancelled)
    assert waiting.last.usage.computed_tokens == 0
    assert first.result.text == make_driver().ask(LONG).text


def test_the_first_reason_stays(make_driver: MakeDriver) -> None:
    driver = make_driver()
    asked = driver.submit(LONG)
    asked.job.cancel("superseded")
    asked.job.cancel("client")
    driver.run()
    assert asked.last.reason == "superseded"


def test_a_cancelled_warm_up_keeps_what_it_computed(make_driver: MakeDriver) -> None:
    driver = make_driver(chunk=16)
    warm = driver.submit(LONG, warm=True)
    for _ in range(3):
        driver.engine.step()
    warm.job.cancel("superseded")
    usage = driver.ask(LONG).usage
    assert isinstance(warm.last, Cancelled)
    assert usage.cached_tokens == 48
