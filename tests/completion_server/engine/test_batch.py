"""Several people at once: one pass for all, and nobody can tell from the text that others are there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from completion_server.engine.scheduler import SPACING
from completion_server.protocol import Cancelled, Limits, Result, Warmed
from speculative import Choice, FixedPolicy, Offer, Round

CODE = "def add(left, right):\n    return left + right\n\n\nclass Point:\n    def __init__(self, x, y):\n        "
LONG = "".join(f"value_{i} = add({i}, {i * 7 % 13})\n" for i in range(24))
TEXTS = [
    LONG + "value = ",
    CODE,
    "x",
    CODE + "self.x = x\n        self.",
    LONG.replace("value", "other"),
    "for index in range(10):\n    print(",
    LONG[:200] + "\n\n" + CODE,
    LONG + CODE,
]

MakeDriver = Callable[..., Any]
RecordWidths = Callable[[Any], list[list[int]]]


@pytest.fixture
def record_widths(monkeypatch: pytest.MonkeyPatch) -> RecordWidths:
    """The list that it returns grows by one per pass of the driver's target: the tokens of each row."""

    def record(driver: Any) -> list[list[int]]:
        widths: list[list[int]] = []
        decoder, ours = driver.engine.pair.target, driver.engine.pair.memory

        def forward(memory: Any, feeds: Any, real: Any = decoder.forward) -> Any:
            if memory is ours:
                widths.append([len(feed.tokens) for feed in feeds])
            return real(memory, feeds)

        monkeypatch.setattr(decoder, "forward", forward)
        return widths

    return record


@pytest.fixture
def alone(make_driver: MakeDriver) -> list[str]:
    """What each of `TEXTS` is answered with by an engine that has nothing else to do."""
    return [make_driver().ask(text).text for text in TEXTS]


def one_of_eight(number: int) -> dict[str, Any]:
    """Different people, lengths and ways to ask."""
    limits = Limits(max_tokens=8 + 5 * number, max_lines=99)
    return {"client": number, "document": f"{number}.py", "limits": limits, "stream": number % 2 == 0}


def test_alone_and_among_seven_others(make_driver: MakeDriver) -> None:
    results = [make_driver().ask(text, **one_of_eight(i)) for i, text in enumerate(TEXTS)]
    driver = make_driver(slots=8, draft=True, chunk=512)
    asked = [driver.submit(text, **one_of_eight(i)) for i, text in enumerate(TEXTS)]
    before = driver.engine.pair.target.passes
    driver.run()
    for one, expected in zip(asked, results, strict=True):
        assert (one.result.text, one.result.finish) == (expected.text, expected.finish)
        assert one.result.usage.computed_tokens == expected.usage.computed_tokens
    shared = driver.engine.pair.target.passes - before
    of_each = [one.result.usage.target_passes + one.result.usage.prefill_passes for one in asked]
    assert max(of_each) <= shared < sum(of_each) / 2


def test_in_int8_even_the_bits_of_keys_and_values_are_those_of_one_alone(make_driver: MakeDriver) -> None:
    """Attention and every layer compute a row without the others, whatever number of tokens shares the pass."""

    def slot_of(driver: Any, owner_text: str) -> tuple[list[int], torch.Tensor]:
        pair = driver.engine.pair
        start = pair.text.encode(owner_text)[:4]
        (slot,) = [slot for slot in pair.slots.slots if slot.target.tokens[:4] == start]
        return list(slot.target.tokens), pair.memory.block(slot.index)[:, :, :, : len(slot.target)]

    texts = [f"# {name}\n{text}" for name, text in zip("abcdefgh", TEXTS, strict=True)]
    together = make_driver(slots=8, int8=True, policy=FixedPolicy(3))
    asked = [together.submit(text, **one_of_eight(i)) for i, text in enumerate(texts)]
    together.run()
    for i, text in enumerate(texts):
        alone = make_driver(slots=8, int8=True, policy=FixedPolicy(3))
        assert asked[i].result.text == alone.ask(text, **one_of_eight(i)).text
        tokens, block = slot_of(together, text)
        expected_tokens, expected = slot_of(alone, text)
        assert tokens == expected_tokens
        assert torch.equal(block, expected)


def test_each_row_has_its_own_k(make_driver: MakeDriver, record_widths: RecordWidths, alone: list[str]) -> None:
    """The policy drafts two tokens for one document and five for the other, in the same passes."""

    class ByTurns(FixedPolicy):
        def choose(self, offers: Any, tail: int, length: int = 0) -> Choice:
            return Choice(offers[0].drafter, next(turns)) if offers else Choice("", 0)

    turns: Iterator[int] = iter([2, 5] * 1000)
    driver = make_driver(policy=ByTurns(0), draft=True, drafters=(), chunk=512)
    widths = record_widths(driver)
    asked = [driver.submit(text, client=i) for i, text in enumerate(TEXTS[1:3])]
    driver.run()
    assert [3, 6] in widths or [6, 3] in widths
    assert [one.result.text for one in asked] == alone[1:3]


def test_the_policy_knows_what_others_put_into_the_pass(make_driver: MakeDriver) -> None:
    class Listening:
        def __init__(self) -> None:
            self.tails: list[int] = []

        def choose(self, offers: list[Offer], tail: int, length: int = 0) -> Choice:
            if not offers:  # a model drafts from the second pass on
                return Choice("", 0)
            self.tails.append(tail)
            return Choice(offers[0].drafter, 4)

        def outlook(self, tail: int, length: int = 0) -> None:
            """No single tokens are weighed."""

        def observe(self, round_: Round) -> None:
            """Nothing to learn."""

    policy = Listening()
    driver = make_driver(policy=policy, draft=True, drafters=(), healing=False)
    first, second = driver.submit("x = ", client=1), driver.submit("y = ", client=2)
    for _ in range(3):
        driver.engine.step()
    assert not first.replies + second.replies
    assert policy.tails == [1, 1 + 4, 1, 1 + 4]  # the other's token, and what was drafted for it before


def test_a_new_key_is_in_the_next_pass(make_driver: MakeDriver, record_widths: RecordWidths) -> None:
    driver = make_driver(slots=4, chunk=512)
    for client in range(3):
        driver.submit(CODE, client=client)
    driver.engine.step()
    driver.engine.step()
    widths = record_widths(driver)
    newest = driver.submit("x", client=9)
    driver.engine.step()
    assert len(widths[0]) == 4
    driver.run()
    assert newest.result.text == make_driver().ask("x").text


def test_a_cold_file_of_one_delays_the_key_of_another_by_one_chunk_at_most(
    make_driver: MakeDriver, record_widths: RecordWidths
) -> None:
    driver = make_driver(chunk=16)
    driver.ask("x = ", client=1)
    cold = driver.submit(LONG + LONG, client=2, document="b.py")
    for _ in range(4):
        driver.engine.step()
    widths = record_widths(driver)
    key = driver.submit("x = 1", client=1, limits=Limits(max_tokens=SPACING, max_lines=99))
    while not key.replies:
        driver.engine.step()
    assert not cold.replies
    assert all(len(rows) == 1 for rows in widths)  # the chunk in flight when the key came was the only one
    driver.run()
    assert cold.result.text == make_driver().ask(LONG + LONG).text


def test_typing_of_one_never_starves_the_cold_file_of_another(make_driver: MakeDriver) -> None:
    driver = make_driver(chunk=16)
    cold = driver.submit(LONG, client=2, document="b.py")
    keys = 0
    while not cold.replies:
        key = driver.submit("x = " + "1" * (keys % 40), client=1)
        driver.engine.step()
        key.job.cancel("superseded")  # by the next one: a key in every pass
        keys += 1
        assert keys < 400
    assert cold.result.text == make_driver().ask(LONG).text


def test_more_people_than_slots(make_driver: MakeDriver, alone: list[str]) -> None:
    """One has taken every slot; a newcomer gets one at once, and whoever gave way goes on later as if nothing was."""
    driver = make_driver(slots=2, draft=True)
    greedy = [driver.submit(text, client=1, document=f"{i}.py", stream=True) for i, text in enumerate(TEXTS[:3])]
    for _ in range(6):
        driver.engine.step()
    seated = {slot.owner for slot in driver.engine.pair.slots.slots}
    assert seated == {greedy[1].job.key, greedy[2].job.key}  # the newest of one client
    newcomer = driver.submit(CODE, client=2)
    driver.engine.step()
    assert newcomer.job.key in {slot.owner for slot in driver.engine.pair.slots.slots}
    driver.run()
    assert newcomer.result.text == alone[1]
    for one, text in zip(greedy, alone[:3], strict=True):
        usage = one.result.usage
        assert one.result.text == text
        assert usage.cached_tokens + usage.computed_tokens == usage.prompt_tokens


def test_who_gave_way_in_the_middle_goes_on_from_another_slot(make_driver: MakeDriver, alone: list[str]) -> None:
    """With what it has committed, and with its draft at its side."""
    driver = make_driver(slots=2, draft=True, chunk=512)
    older, newer = (driver.submit(TEXTS[i], client=1, document=f"{i}.py") for i in (0, 4))
    sequence = None
    while sequence is None or sequence.generation.counters.passes < 3:
        driver.engine.step()
        sequence = driver.engine._work[older.job.key].sequence
    committed, first = list(sequence.tokens), sequence.slot.index
    newcomer = driver.submit(TEXTS[7], client=2)
    driver.engine.step()
    assert sequence.slot is None
    newer.job.cancel("client")
    driver.engine.step()
    assert sequence.slot.index != first
    assert sequence._draft_row.slot is sequence.slot
    assert sequence.tokens[: len(committed)] == committed
    driver.run()
    assert (older.result.text, newcomer.result.text) == (alone[0], alone[7])


@dataclass(frozen=True)
class Event:
    """Before step `at`: a request with text `text` of client `client`; `cancel` steps later it is cancelled."""

    at: int
    text: int
    client: int
    document: int
    warm: bool
    cancel: int | None


EVENTS = st.builds(
    Event,
    at=st.integers(0, 40),
    text=st.integers(0, len(TEXTS) - 1),
    client=st.integers(1, 3),
    document=st.integers(1, 2),
    warm=st.booleans(),
    cancel=st.none() | st.integers(0, 15),
)


@given(st.lists(EVENTS, min_size=1, max_size=12), st.integers(1, 4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_comes_everybody_gets_one_reply_and_the_text_of_one_alone(
    make_driver: MakeDriver, alone: list[str], events: list[Event], slots: int
) -> None:
    driver = make_driver(slots=slots, draft=True)
    asked: list[tuple[Event, Any]] = []
    cancels: list[tuple[int, Any]] = []
    for step in range(60):
        for event in [event for event in events if event.at == step]:
            one = driver.submit(
                TEXTS[event.text], client=event.client, document=f"{event.document}.py", warm=event.warm
            )
            for other_event, other in asked:  # as the registry does
                if (other_event.client, other_event.document) == (event.client, event.document):
                    other.job.cancel("superseded")
            asked.append((event, one))
            if event.cancel is not None:
                cancels.append((step + event.cancel, one))
        for _, one in [cancel for cancel in cancels if cancel[0] == step]:
            one.job.cancel("client")
        driver.engine.step()
        owners = {one.job.key for _, one in asked if not one.replies}
        driver.engine.pair.slots.check_integrity()
        assert {slot.owner for slot in driver.engine.pair.slots.slots} <= owners | {None}
    driver.run()
    for event, one in asked:
        if one.job.cancelled is None:
            assert isinstance(one.last, Warmed if event.warm else Result)
        if isinstance(one.last, Result):
            assert one.last.text == alone[event.text]
        else:
            assert isinstance(one.last, Warmed | Cancelled)
