"""What becomes of a suggestion, as counters: written down first, then played."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from lsp.events import SHOWN_AFTER, Event, Fate
from lsp.totals import Totals


def fate(length: int = 10) -> Fate:
    new = Fate("s1", "python")
    new.length = length
    return new


def kinds(events: list[Event]) -> list[tuple[str, int]]:
    return [(event.kind, event.characters) for event in events]


def test_shown_counts_after_a_while_and_once() -> None:
    one = fate()
    one.show(0.0)
    assert one.settle(SHOWN_AFTER / 2) == []
    assert kinds(one.settle(SHOWN_AFTER)) == [("shown", 10)]
    one.hide(2.0)
    one.show(3.0)
    assert one.settle(9.0) == []


def test_what_was_gone_at_once_was_not_shown() -> None:
    one = fate()
    one.show(1.0)
    assert one.end(1.1, "replaced") == []
    two = fate()
    two.show(1.0)
    assert two.hide(1.1) == []
    two.show(5.0)  # it comes back and stays
    assert kinds(two.end(6.0, "dismissed")) == [("shown", 10), ("dismissed", 10)]


def test_accepting_at_once_is_seeing() -> None:
    one = fate()
    one.show(1.0)
    assert kinds(one.accept(1.05)) == [("shown", 10), ("accepted", 10)]
    assert one.accept(1.1) == []
    assert one.end(2.0, "dismissed") == []


def test_words_by_hand_and_by_key() -> None:
    one = fate()
    one.show(0.0)
    assert kinds(one.take(1.0, 4)) == [("shown", 10)]
    assert one.type(1.5, 2) == []  # up to 6
    assert one.take(2.0, 8) == []  # two more by key
    assert one.take(2.1, 8) == []
    assert kinds(one.end(3.0, "dismissed")) == [("partly-accepted", 6), ("typed-through", 2)]


def test_typed_out_by_hand_is_over() -> None:
    one = fate()
    one.show(0.0)
    assert kinds(one.type(1.0, 3)) == [("shown", 10)]
    assert kinds(one.type(2.0, 10)) == [("typed-through", 10)]
    assert one.end(3.0, "replaced") == []


def test_the_rest_of_what_was_typed_is_what_was_accepted() -> None:
    one = fate()
    one.show(0.0)
    one.type(1.0, 3)
    assert kinds(one.accept(2.0)) == [("accepted", 7), ("typed-through", 3)]


def test_a_day_ends_at_midnight() -> None:
    days = [date(2026, 1, 1)]
    totals = Totals(lambda: days[-1])
    assert totals.acceptance is None
    for kind in ("shown", "shown", "accepted"):
        totals.happened(Event("s1", kind, 5, ""))
    assert totals.acceptance == 0.5
    assert totals.figures()["shown_characters"] == 10
    days.append(date(2026, 1, 2))
    assert totals.acceptance is None
    assert totals.figures()["shown"] == 0


CALLS = ["show", "hide", "settle", "take", "type", "accept", "dismiss", "replace"]
STEPS = st.lists(st.tuples(st.sampled_from(CALLS), st.integers(0, 12)))


@given(STEPS)
def test_whatever_a_client_says_each_kind_comes_once_and_characters_add_up(steps: list[tuple[str, int]]) -> None:
    one, events, now = fate(), [], 0.0
    for name, number in steps:
        now += number / 10
        match name:
            case "show":
                one.show(now)
            case "hide":
                events += one.hide(now)
            case "settle":
                events += one.settle(now)
            case "take":
                events += one.take(now, number)
            case "type":
                events += one.type(now, number)
            case "accept":
                events += one.accept(now)
            case _:
                events += one.end(now, "dismissed" if name == "dismiss" else "replaced")
    found = [event.kind for event in events]
    assert len(found) == len(set(found))
    assert "shown" in found or not found
    assert not {"accepted", "partly-accepted"} <= set(found)
    used = [event.characters for event in events if event.kind in ("accepted", "partly-accepted", "typed-through")]
    assert sum(used) <= one.length
