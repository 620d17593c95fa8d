"""What follows a suggestion is worked out while nobody asks for anything, and nobody is ever worse off for it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from completion_server.backend import Snapshot
from completion_server.engine.continuation import Reach
from completion_server.engine.engine import Engine
from completion_server.protocol import Limits

CODE = "def add(left, right):\n    return left + right\n\n\nclass Point:\n    def __init__(self, x, y):\n        "
SHORT = Limits(max_tokens=6, max_lines=99)
NEXT = Limits(max_tokens=24, max_lines=99)
REACH = Reach(tokens=24, lines=99)

MakeDriver = Callable[..., Any]


def rows(driver: Any) -> list[tuple[list[int], list[int], int | None, int]]:
    slots = driver.engine.pair.slots.slots
    return [(list(slot.target.tokens), list(slot.draft.tokens), slot.owner, slot.used_at) for slot in slots]


def books(driver: Any) -> Snapshot:
    """All but what the process holds of the machine's memory, which is nobody's to say."""
    return replace(driver.engine.snapshot(), device_bytes=0)


def test_accepting_a_suggestion_gives_the_next_one_in_a_pass_or_two(make_driver: MakeDriver) -> None:
    plain = make_driver(drafters=("tail",), plain_text=True)
    driver = make_driver(drafters=("tail",), plain_text=True, reach=REACH)
    shown = driver.ask(CODE, limits=SHORT).text
    assert driver.rest() > 0
    accepted = driver.ask(CODE + shown, limits=NEXT)
    plain.ask(CODE, limits=SHORT)
    expected = plain.ask(CODE + shown, limits=NEXT)
    assert accepted.text == expected.text
    assert accepted.usage.accepted_by["tail"] >= 8
    assert accepted.usage.target_passes < expected.usage.target_passes / 2


def test_it_replies_nothing_and_leaves_the_books_as_they_were(make_driver: MakeDriver) -> None:
    driver = make_driver(reach=REACH)
    asked = driver.submit(CODE, limits=SHORT)
    driver.run()
    before = rows(driver), books(driver), list(asked.replies)
    assert driver.rest() > 3
    assert (rows(driver), books(driver), asked.replies) == before
    assert driver.engine.step() is False


def test_interrupted_at_any_point_it_is_as_if_it_had_never_run(make_driver: MakeDriver) -> None:
    """The next request, of another document, finds the same slots; the one after that, in the first document, too."""
    without = make_driver()
    without.ask(CODE, limits=SHORT)
    parked = rows(without)
    other, back = without.ask("x = "), without.ask(CODE + "self", limits=NEXT)
    passes = 0
    while True:
        driver = make_driver(reach=REACH)
        driver.ask(CODE, limits=SHORT)
        ran = sum(driver.engine.step() for _ in range(passes))
        asked = driver.submit("x = ")
        assert rows(driver) == parked
        driver.poison_stale()
        before = driver.engine.pair.target.passes
        driver.run()
        assert asked.result.text == other.text
        assert driver.engine.pair.target.passes - before == other.usage.target_passes + other.usage.prefill_passes
        again = driver.ask(CODE + "self", limits=NEXT)
        assert (again.text, again.usage.cached_tokens) == (back.text, back.usage.cached_tokens)
        if ran < passes:
            break
        passes += 1
    assert passes > 3


def test_a_busy_engine_continues_nothing(make_driver: MakeDriver) -> None:
    driver = make_driver(reach=REACH)
    driver.ask(CODE, limits=SHORT)
    asked = driver.submit("x = ", client=2)
    before = driver.engine.pair.target.passes
    driver.run()
    used = asked.result.usage
    assert driver.engine.pair.target.passes - before == used.target_passes + used.prefill_passes
    assert driver.engine.rest_s == 0.0


def test_the_newest_runs_first_and_an_older_one_goes_on_where_it_was(make_driver: MakeDriver) -> None:
    driver = make_driver(reach=REACH, drafters=("tail",), plain_text=True)
    first = driver.ask(CODE, limits=SHORT, document="a.py").text
    for _ in range(4):
        driver.engine.step()
    second = driver.ask("value = ", limits=SHORT, document="b.py").text
    driver.rest()
    for before, document in ((CODE + first, "a.py"), ("value = " + second, "b.py")):
        result = driver.ask(before, limits=NEXT, document=document)
        assert result.usage.accepted_by["tail"] >= 8
        assert result.text == make_driver(plain_text=True).ask(before, limits=NEXT).text


@pytest.mark.parametrize("leave", ["close", "disconnect", "type", "warm"])
def test_nothing_is_continued_for_who_left_or_went_on(make_driver: MakeDriver, leave: str) -> None:
    driver = make_driver(reach=REACH)
    driver.ask(CODE, limits=SHORT, client=1, document="a.py")
    driver.engine.step()
    if leave == "close":
        driver.engine.close_document(1, "a.py")
    elif leave == "disconnect":
        driver.engine.disconnect(1)
    else:
        asked = driver.submit(CODE + "x", client=1, document="a.py", warm=leave == "warm")
        asked.job.cancel("client")
        driver.run()
    assert driver.engine.rest_s is None
    driver.engine.pair.slots.check_integrity(owners=())


def test_no_slot_is_kept_for_it(make_driver: MakeDriver) -> None:
    driver = make_driver(slots=1, reach=REACH)
    driver.ask(CODE, limits=SHORT, document="a.py")
    driver.engine.step()
    driver.ask("x = ", limits=SHORT, document="b.py")
    driver.rest()
    assert driver.ask(CODE, document="a.py").text == make_driver().ask(CODE).text
    assert driver.engine.rest_s is not None


def test_what_another_client_has_put_behind_it_since_stays(make_driver: MakeDriver) -> None:
    driver = make_driver(slots=1, reach=REACH)
    driver.ask(CODE, limits=SHORT, document="a.py")
    longer = CODE + "    return total\n" * 6
    driver.submit(longer, client=2, document="b.py", warm=True)
    driver.run()
    usage = driver.ask(longer, client=2, document="b.py").usage
    assert usage.cached_tokens == usage.prompt_tokens - 1


def test_how_far_it_reaches(make_driver: MakeDriver) -> None:
    def written(reach: Reach) -> bytes:
        driver = make_driver(reach=reach, drafters=("tail",), plain_text=True)
        remembered: list[list[int]] = []
        driver.ask(CODE, limits=SHORT)
        (slot,) = [slot for slot in driver.engine.pair.slots.slots if slot.target.tokens]
        document = driver.engine._documents.get(1, "a.py")
        document.remember = remembered.append
        driver.rest()
        text: bytes = driver.engine.pair.text.decode_bytes(remembered[-1][len(slot.target) + 1 :])
        return text

    long = written(Reach(tokens=60, lines=99))
    assert len(long) == 60
    assert written(Reach(tokens=5, lines=99)) == long[:5]
    lines = long.split(b"\n")
    assert len(lines) > 3
    assert written(Reach(tokens=60, lines=1)) == b"\n".join(lines[:2]) + b"\n"  # the first ends the line shown


@pytest.mark.parametrize("limits", [Limits(max_tokens=1024, max_lines=99)])
def test_there_may_be_no_room_to_go_on(make_driver: MakeDriver, limits: Limits) -> None:
    driver = make_driver(context=128, reach=REACH)
    driver.ask(CODE, limits=limits)
    driver.rest()
    assert all(len(slot.target) <= 128 for slot in driver.engine.pair.slots.slots)


def test_it_waits_for_the_pause_and_can_be_turned_off(make_driver: MakeDriver) -> None:
    now = [100.0]
    pair = make_driver().engine.pair
    driver = make_driver()
    driver.engine = Engine(pair, reach=Reach(pause_s=0.25), clock=lambda: now[0])
    driver.ask(CODE, limits=SHORT)
    assert driver.engine.rest_s == 0.25
    assert driver.engine.step() is False
    now[0] += 0.25
    assert driver.engine.step() is True
    off = make_driver()
    off.ask(CODE, limits=SHORT)
    assert off.engine.rest_s is None
    assert off.engine.step() is False


def test_a_fault_in_it_costs_nobody_anything(
    make_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    driver = make_driver(reach=REACH)
    driver.ask(CODE, limits=SHORT)
    parked = rows(driver)
    with monkeypatch.context() as patched:
        patched.setattr(driver.engine.pair.target, "forward", lambda *_: 1 / 0)
        driver.engine.step()
    assert "ZeroDivisionError" in caplog.text
    assert (rows(driver), driver.engine.rest_s) == (parked, None)
