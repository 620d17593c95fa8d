"""Two hundred typed keys: what became of each is written down first, and every place with numbers must say just that.

The engine follows the script of `conftest`; all else is real.
"""

import asyncio
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from completion_server.client import connect
from completion_server.numbers.schema import TABLES
from completion_server.numbers.summary import figures
from completion_server.protocol import Complete, EventKind, EventReport, Report, Warm

SEEN = 0.25  # seconds on the screen: more than `events.SHOWN_AFTER`


async def type_two_hundred_keys(person: Any, backend: Any) -> None:
    for _ in range(65):
        suggestion = await person.line("accept = ")
        person.sees(suggestion)
        await person.accepts(suggestion)
    for _ in range(20):
        suggestion = await person.line("parts = ")
        person.sees(suggestion)
        person.sees(await person.accepts_part(suggestion, 5))
    for _ in range(5):
        suggestion = await person.line("flash = ")
        person.sees(suggestion)
        person.says(suggestion, "replaced")
    for text, times in (("nothing = ", 15), ("busy = ", 10)):
        for _ in range(times):
            await person.line(text)
    for number in range(1, 6):
        asked = asyncio.create_task(person.line("slow = "))
        while sum(_is_slow(request) for request in backend.requests) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        asked.cancel()
    # These are looked at for a while, all at once, each in a document of its own.
    gone_in = [person.open(f"gone{number}.txt", "markdown") for number in range(10)]
    typed_in = [person.open(f"typed{number}.txt") for number in range(10)]
    gone = [await person.line("gone = ", buffer) for buffer in gone_in]
    typed = [await person.line("typed = ", buffer) for buffer in typed_in]
    for suggestion in gone + typed:
        person.sees(suggestion)
    await asyncio.sleep(SEEN)
    for suggestion in gone:
        person.says(suggestion, "dismissed")
    for suggestion, buffer in zip(typed, typed_in, strict=True):
        assert await person.types_through(suggestion, buffer) == [*["from-cache"] * 3, "empty"]


def _is_slow(request: Complete | Warm) -> bool:
    return isinstance(request, Complete) and request.context.before.endswith("slow = ")


OUTCOMES = {"cancelled": 5, "empty": 25, "engine": 110, "error": 10, "from-cache": 50}
EVENTS: dict[EventKind, tuple[int, int]] = {  # how many, and characters
    "shown": (105, 65 * 9 + 20 * 12 + 10 * 9 + 10 * 4),
    "accepted": (65, 65 * 9),
    "partly-accepted": (20, 20 * 5),
    "typed-through": (10, 10 * 4),
    "dismissed": (10, 10 * 9),
    "looked-30s": (1, 685),
    "kept-30s": (1, 500),
    "looked-2min": (1, 685),
    "kept-2min": (1, 400),
}
DONE = 135  # requests: all keys that the engine answered, with text or without


async def test_two_hundred_keys_are_counted_alike_everywhere(recorded: Any) -> None:
    async with recorded() as places:
        async with places.person() as person:
            await type_two_hundred_keys(person, places.backend)
        other = await connect(name="other")
        kinds: tuple[EventKind, ...] = ("looked-30s", "kept-30s", "looked-2min", "kept-2min")
        kept = tuple(EventReport(kind, "plaintext", EVENTS[kind][1]) for kind in kinds)
        await other.report(Report("other", (), kept))
        found = await places.metrics_when(lambda found: "suggestions_total{kind=kept-2min,language=plaintext}" in found)
        await other.aclose()
    total = figures(places.store)
    page = places.page()
    with closing(sqlite3.connect(places.store)) as store:
        tables = set(TABLES.values()) - {"traces"}  # of what was slow, which a busy machine decides
        rows = {table: store.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}  # noqa: S608

    assert rows == {"requests": 150, "keys": 200, "events": 214, "drafts": 4 * DONE}
    assert total["keystrokes"] == 200
    assert total["outcomes"] == OUTCOMES
    assert found.by("outcome", "keystrokes_total") == OUTCOMES
    assert total["requests"] == {"client": 5, "completed": DONE, "refused": 10}
    assert found.by("outcome", "requests_total") == total["requests"]

    assert found.by("kind", "suggestions_total") == {kind: times for kind, (times, _) in EVENTS.items()}
    characters = {kind: length for kind, (_, length) in EVENTS.items()}
    assert found.by("kind", "suggestion_characters_total") == characters
    for name in ("shown", "accepted", "partly-accepted", "typed-through", "dismissed"):
        assert total[name.replace("-", "_")] == EVENTS[name][0]
    assert total["suggestion_acceptance_rate"] == round(65 / 105, 4)
    assert total["character_acceptance_rate"] == round(685 / 955, 4)
    assert (total["persistence_30s"], total["persistence_2min"]) == (round(500 / 685, 4), round(400 / 685, 4))

    assert found["prompt_tokens_total{source=cached}"] == 15 * DONE
    assert found["prompt_tokens_total{source=computed}"] == 5 * DONE + 5 * 5
    assert found["generation_tokens_total{}"] == total["completion_tokens"] + 2 * 5 == 6 * DONE + 2 * 5
    assert found["wasted_tokens_total{}"] == total["wasted_tokens"] == 5 * 7
    assert found["target_passes_total{}"] == 3 * DONE
    assert (total["cached_token_ratio"], total["draft_acceptance_rate"], total["acceptance_length"]) == (0.75, 0.75, 2)
    for place in range(1, 5):
        right = DONE if place < 4 else 0
        assert found[f"spec_decode_num_draft_tokens_total{{drafter=n-gram,position={place}}}"] == DONE
        assert found[f"spec_decode_num_accepted_tokens_total{{drafter=n-gram,position={place}}}"] == right
        entry = {"position": place, "drafted": DONE, "accepted": right, "rate": right / DONE}
        assert total["drafters"]["n-gram"][place - 1] == entry

    for name, labels, times, seconds, bucket in (
        ("request_queue_time", "", DONE, 0.002, "0.002"),
        ("time_to_first_token", "", DONE, 0.045, "0.05"),
        ("e2e_request_latency", "", DONE, 0.090, "0.1"),
        ("request_time_per_output_token", "", DONE, 0.050 / 5, "0.012"),
        ("inter_token_latency", "", 2 * DONE, 0.020, "0.02"),  # of three passes
        ("target_pass", "width=5-8", DONE, 0.030, "0.03"),
        ("target_pass", "width=1", 2 * DONE, 0.020, "0.02"),
    ):
        name, both = f"{name}_seconds", ",".join(filter(None, (f"le={bucket}", labels)))
        assert found[f"{name}_count{{{labels}}}"] == found[f"{name}_bucket{{{both}}}"] == times
        assert found[f"{name}_sum{{{labels}}}"] == pytest.approx(times * seconds)
    assert found["keystroke_to_suggestion_seconds_count{}"] == OUTCOMES["engine"]
    held = places.backend.HELD
    for name in ("slots_used", "kv_bytes", "kv_budget_bytes"):
        assert found[f"{name}{{}}"] == getattr(held, name)
    assert (found["slots{}"], found["evictions_total{}"]) == (held.slots_total, held.evictions)
    assert found["device_memory_bytes{device=cpu}"] == held.device_bytes
    assert found["num_requests_running{}"] == found["num_requests_waiting{}"] == 0
    assert (total["ttft_ms"]["p95"], total["e2e_ms"]["p50"]) == (45, 90)
    assert total["goodput"] == round(found["good_keystrokes_total{}"] / 160, 4)
    assert found.unasked == set()  # a metric is here with its truth, or it is none

    assert page["total"] == total
    assert {name: group["keystrokes"] for name, group in page["groups"]["language"].items()} == {
        "markdown": 10,
        "plaintext": 190,
    }
    assert {name: group["keystrokes"] for name, group in page["groups"]["editor"].items()} == {
        "foretype-headless": 200,
        "other": 0,
    }
    assert sum(point["shown"] for point in page["acceptance"]) == 105
    assert page["latency"]["first tokens"][-1] == [45, 1]
    assert {"stage": "prompt and first pass", "p50": 38, "p95": 38} in page["spent"]


async def test_seq_metrics(recorded: Any) -> None:
    """One accepted, one typed out, one half accepted by words, two from the cache, one seen for a moment."""
    async with recorded() as places:
        async with places.person() as person:
            one = await person.line("accept = ")
            person.sees(one)
            await person.accepts(one)
            two = await person.line("typed = ")
            person.sees(two)
            await asyncio.sleep(SEEN)
            assert await person.types_through(two) == ["from-cache", "from-cache", "from-cache", "empty"]
            three = await person.line("parts = ")
            person.sees(three)
            assert (await person.accepts_part(three, 5)).text == " second"
            flash = await person.line("flash = ")
            person.sees(flash)
            person.says(flash, "replaced")
        found = await places.metrics_when(
            lambda found: "suggestions_total{kind=partly-accepted,language=plaintext}" in found
        )
    expected = {"shown": 3, "accepted": 1, "typed-through": 1, "partly-accepted": 1}
    assert found.by("kind", "suggestions_total") == expected
    assert found.by("outcome", "keystrokes_total") == {"engine": 4, "from-cache": 4, "empty": 1}
    total = figures(places.store)
    assert {kind: total[kind.replace("-", "_")] for kind in expected} == expected
    assert (total["shown_characters"], total["accepted_characters"]) == (9 + 4 + 12, 9 + 5)
    assert places.page()["total"] == total
