"""Two hundred typed keys: what became of each is written down first, and every place with numbers must say just that.

The engine follows the script of `conftest`; all else is real.
"""

import asyncio
from typing import Any

from completion_server.client import connect
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
    "kept-30s": (1, 500),
    "kept-2min": (1, 400),
}
DONE = 135  # requests: all keys that the engine answered, with text or without


async def test_two_hundred_keys_are_counted_alike_everywhere(recorded: Any) -> None:
    async with recorded() as places:
        async with places.person() as person:
            await type_two_hundred_keys(person, places.backend)
        other = await connect(name="other")
        kept = (EventReport("kept-30s", "plaintext", 500), EventReport("kept-2min", "plaintext", 400))
        await other.report(Report("other", (), kept))
        found = await places.metrics_when(lambda found: "suggestions_total{kind=kept-2min,language=plaintext}" in found)
        await other.aclose()
    total = figures(places.store)
    page = places.page()

    assert total["keystrokes"] == 200
    assert total["outcomes"] == OUTCOMES
    assert _summed(found, "keystrokes_total", "outcome") == OUTCOMES
    assert total["requests"] == {"client": 5, "completed": DONE, "refused": 10}
    assert _summed(found, "requests_total", "outcome") == total["requests"]

    assert _summed(found, "suggestions_total", "kind") == {kind: times for kind, (times, _) in EVENTS.items()}
    characters = {kind: length for kind, (_, length) in EVENTS.items()}
    assert _summed(found, "suggestion_characters_total", "kind") == characters
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
        assert found.get(f"spec_decode_num_accepted_tokens_total{{drafter=n-gram,position={place}}}", 0) == right
        entry = {"position": place, "drafted": DONE, "accepted": right, "rate": right / DONE}
        assert total["drafters"]["n-gram"][place - 1] == entry

    for name, under, over in (
        ("request_queue_time", None, "0.005"),
        ("time_to_first_token", "0.03", "0.05"),
        ("e2e_request_latency", "0.08", "0.1"),
        ("request_time_per_output_token", "0.005", "0.012"),
    ):
        assert found[f"{name}_seconds_count{{}}"] == found[f"{name}_seconds_bucket{{le={over}}}"] == DONE
        assert under is None or f"{name}_seconds_bucket{{le={under}}}" not in found
    assert found["keystroke_to_suggestion_seconds_count{}"] == 110
    assert (
        found["target_pass_seconds_count{width=5-8}"] == found["target_pass_seconds_bucket{le=0.03,width=5-8}"] == DONE
    )
    assert (
        found["inter_token_latency_seconds_count{}"]
        == found["inter_token_latency_seconds_bucket{le=0.02}"]
        == 2 * DONE  # of three passes
    )
    assert (
        found["target_pass_seconds_count{width=1}"] == found["target_pass_seconds_bucket{le=0.02,width=1}"] == 2 * DONE
    )
    assert (total["ttft_ms"]["p95"], total["e2e_ms"]["p50"]) == (45, 90)
    assert total["goodput"] == round(found["good_keystrokes_total{}"] / 160, 4)

    assert page["total"] == total
    assert {name: group["keystrokes"] for name, group in page["groups"]["language"].items()} == {
        "markdown": 10,
        "plaintext": 190,
    }
    assert {name: group["keystrokes"] for name, group in page["groups"]["editor"].items()} == {
        "foretype-headless": 200,
        "other": 0,
    }
    assert (sum(point["shown"] for point in page["acceptance"]), page["slow"]) == (105, [])
    assert page["latency"]["first tokens"][-1] == [45, 1]
    assert page["spent"][1] == {"stage": "prompt and first pass", "p50": 38, "p95": 38}


def _summed(found: dict[str, float], name: str, label: str) -> dict[str, float]:
    """Samples of one metric, added up by one label."""
    sums: dict[str, float] = {}
    for sample, value in found.items():
        if sample.startswith(f"{name}{{"):
            labels = dict(pair.split("=", 1) for pair in sample[len(name) + 1 : -1].split(","))
            sums[labels[label]] = sums.get(labels[label], 0) + value
    return sums


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
    assert _summed(found, "suggestions_total", "kind") == expected
    assert _summed(found, "keystrokes_total", "outcome") == {"engine": 4, "from-cache": 4, "empty": 1}
    total = figures(places.store)
    assert {kind: total[kind.replace("-", "_")] for kind in expected} == expected
    assert (total["shown_characters"], total["accepted_characters"]) == (9 + 4 + 12, 9 + 5)
    assert places.page()["total"] == total
