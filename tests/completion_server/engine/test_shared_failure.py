"""When something fails in a pass that several share: whose fault it is, that one is told so; the others go on."""

from collections.abc import Callable
from typing import Any

import pytest

from completion_server.protocol import Cancelled, Error, Limits

TEXTS = ["x = ", "def add(left, right):\n    return ", "value = add(", "print("]
LIMITS = Limits(max_tokens=12, max_lines=99)

MakeDriver = Callable[..., Any]


@pytest.fixture
def four(make_driver: MakeDriver) -> tuple[Any, list[Any]]:
    """An engine with four requests that have all had their first tokens."""
    driver = make_driver(slots=4, chunk=512)
    asked = [driver.submit(text, client=i, limits=LIMITS) for i, text in enumerate(TEXTS)]
    driver.engine.step()
    driver.engine.step()
    return driver, asked


@pytest.fixture
def alone(make_driver: MakeDriver) -> list[str]:
    return [make_driver().ask(text, limits=LIMITS).text for text in TEXTS]


def slot_of(driver: Any, asked: Any) -> int:
    (index,) = [slot.index for slot in driver.engine.pair.slots.slots if slot.owner == asked.job.key]
    return index


def everybody_but(guilty: int, asked: list[Any], alone: list[str]) -> None:
    assert isinstance(asked[guilty].last, Error)
    assert asked[guilty].last.code == "internal"
    for i, one in enumerate(asked):
        if i != guilty:
            assert one.result.text == alone[i]


def test_a_row_that_breaks_the_pass_fails_alone(
    four: tuple[Any, list[Any]], alone: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    driver, asked = four
    guilty, decoder, rows = slot_of(driver, asked[2]), driver.engine.pair.target, []

    def forward(memory: Any, feeds: Any, real: Any = decoder.forward) -> Any:
        rows.append(len(feeds))
        real(memory, feeds)  # what it writes is overwritten by the second try
        if any(feed.slot == guilty for feed in feeds):
            raise RuntimeError("cannot compute value = add(")
        return real(memory, feeds)

    with monkeypatch.context() as patched:
        patched.setattr(decoder, "forward", forward)
        driver.engine.step()
        assert rows == [4, 1, 1, 1, 1]
    driver.run()
    everybody_but(2, asked, alone)
    assert "RuntimeError" in caplog.text
    assert "add(" not in caplog.text
    driver.engine.pair.slots.check_integrity(owners=())


def test_a_pass_that_fails_once_costs_nobody_anything(
    four: tuple[Any, list[Any]], alone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four rows may be too many for the memory that is left where one is not."""
    driver, asked = four
    decoder = driver.engine.pair.target

    def forward(memory: Any, feeds: Any, real: Any = decoder.forward) -> Any:
        if len(feeds) > 1:
            raise MemoryError
        return real(memory, feeds)

    monkeypatch.setattr(decoder, "forward", forward)
    driver.run()
    assert [one.result.text for one in asked] == alone


def test_a_device_that_is_gone_is_said_to_everybody(
    four: tuple[Any, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, asked = four

    def forward(memory: Any, feeds: Any) -> Any:
        raise RuntimeError("device lost")

    monkeypatch.setattr(driver.engine.pair.target, "forward", forward)
    driver.run()
    assert all(isinstance(one.last, Error) for one in asked)


def test_between_two_tries_the_cancel_flags_are_seen(
    four: tuple[Any, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, asked = four
    decoder, passes = driver.engine.pair.target, []

    def forward(memory: Any, feeds: Any, real: Any = decoder.forward) -> Any:
        passes.append(len(feeds))
        if len(feeds) > 1:
            for one in asked:
                one.job.cancel("client")
            raise MemoryError
        return real(memory, feeds)

    monkeypatch.setattr(decoder, "forward", forward)
    driver.run()
    assert passes == [4]
    assert all(isinstance(one.last, Cancelled) for one in asked)


@pytest.mark.parametrize("step", ["feed", "take"])
def test_drafting_or_committing_fails_for_one(
    four: tuple[Any, list[Any]], alone: list[str], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    driver, asked = four

    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(driver.engine._work[asked[1].job.key].sequence, step, broken)
    driver.run()
    everybody_but(1, asked, alone)


def test_a_request_that_cannot_begin_leaves_no_slot_behind(
    make_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = make_driver(slots=1)
    with monkeypatch.context() as patched:
        patched.setattr("completion_server.engine.opening.StreamDecoder", lambda *_, **__: 1 / 0)
        failed = driver.submit("x = ")
        driver.run()
    assert isinstance(failed.last, Error)
    driver.engine.pair.slots.check_integrity(owners=())
    assert driver.ask("x = ").text == make_driver().ask("x = ").text
