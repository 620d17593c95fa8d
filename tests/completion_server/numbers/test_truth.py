"""Two hundred typed keys: what became of each is written down first, and every place with numbers must say just that.

Real are the language server's process, the socket, the recorder, the store, the port for metrics and the dashboard.
The engine follows a script, and each of its requests costs what is written here.
"""

import asyncio
import socket
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from completion_server.backend import Reply
from completion_server.client import connect
from completion_server.dashboard.access import Access
from completion_server.dashboard.app import application
from completion_server.numbers.recording import recording
from completion_server.numbers.summary import figures
from completion_server.protocol import (
    Cancelled,
    Complete,
    DraftCount,
    EngineMessage,
    EventKind,
    EventReport,
    Report,
    Result,
    Round,
    Usage,
    Warm,
)
from completion_server.scripted import Rule, ScriptedBackend
from completion_server.settings import EngineSettings
from lsp.headless import Buffer, HeadlessEditor, Suggestion

SOON = 20.0
SEEN = 0.25  # seconds on the screen: more than `events.SHOWN_AFTER`

USAGE = Usage(
    prompt_tokens=20, cached_tokens=15, computed_tokens=5, completion_tokens=6, drafted_tokens=4, accepted_tokens=3,
    target_passes=3, queue_ms=2, prompt_ms=1, first_tokens_ms=40, ttft_ms=45, e2e_ms=90,
    rounds=(Round(30, 5, "n-gram", 4, 3), Round(20, 1, "", 0, 0), Round(20, 1, "", 0, 0)),
    drafts=tuple(DraftCount("n-gram", place, 1, int(place < 3)) for place in range(4)),
)  # fmt: skip
STOPPED = Usage(computed_tokens=5, completion_tokens=2)

SAYS = {
    "accept = ": Rule("one + two\n"),
    "typed = ": Rule("abcd\n"),
    "parts = ": Rule("first second\n"),
    "gone = ": Rule("unloved()\n"),
    "flash = ": Rule("flash()\n"),
    "busy = ": Rule(error="overloaded"),
    "slow = ": Rule("late\n", delay_ms=60_000),
}


class Priced(ScriptedBackend):
    """Every request costs `USAGE`, or `STOPPED` where it is cancelled."""

    def __init__(self) -> None:
        super().__init__(lambda request: SAYS.get(request.context.before.rpartition("\n")[2], Rule()))

    def submit(self, client: int, request: Complete | Warm, received: float, reply: Reply) -> None:
        super().submit(client, request, received, lambda message: reply(_priced(message)))


def _priced(message: EngineMessage) -> EngineMessage:
    if isinstance(message, Result):
        return replace(message, usage=USAGE)
    return replace(message, usage=STOPPED) if isinstance(message, Cancelled) else message


# -- a person at an editor -----------------------------------------------------------------------------------------


class Person:
    """Types and does things with suggestions, as an editor tells of them."""

    def __init__(self, editor: HeadlessEditor) -> None:
        self._editor = editor
        self._numbers = count()
        self._main = self.open("main.txt")

    def open(self, name: str, language: str = "plaintext") -> Buffer:
        return self._editor.open(Path("/project/main.txt"), "", name=name, language=language)

    async def line(self, text: str, buffer: Buffer | None = None) -> Suggestion:
        """Type a line of its own and ask at its end. Above it stands a number: equal lines in a row are a loop."""
        buffer = buffer or self._main
        buffer.insert(f"\n{next(self._numbers)}\n{text}")
        return await buffer.suggest()

    def sees(self, suggestion: Suggestion) -> None:
        self._notify("textDocument/didShowCompletion", {"item": _item(suggestion)})

    async def accepts(self, suggestion: Suggestion) -> None:
        self._main.insert(suggestion.text)
        command = types.ExecuteCommandParams("foretype.accepted", [suggestion.trace["id"]])
        await self._editor._client.request(types.WORKSPACE_EXECUTE_COMMAND, command)

    async def accepts_part(self, suggestion: Suggestion, length: int) -> Suggestion:
        """Asks again behind it."""
        self._main.insert(suggestion.text[:length])
        params = {"item": _item(suggestion), "acceptedLength": length}
        self._notify("textDocument/didPartiallyAcceptCompletion", params)
        return await self._main.suggest()

    async def types_through(self, suggestion: Suggestion, buffer: Buffer | None = None) -> list[str]:
        """By hand to its end, asking at each key; what became of each."""
        buffer, outcomes = buffer or self._main, []
        for typed, char in enumerate(suggestion.text, start=1):
            buffer.insert(char)
            outcomes.append((await buffer.suggest()).trace["outcome"])
            self.says(suggestion, "typedThrough", length=typed)
        return outcomes

    def says(self, suggestion: Suggestion, event: str, **more: int) -> None:
        self._notify("foretype/event", {"id": suggestion.trace["id"], "event": event, **more})

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        self._editor._client.protocol.notify(method, params)


def _item(suggestion: Suggestion) -> dict[str, Any]:
    command = {"title": "", "command": "foretype.accepted", "arguments": [suggestion.trace["id"]]}
    return {"insertText": suggestion.text, "command": command}


# -- where numbers are -----------------------------------------------------------------------------------------------


@dataclass
class Places:
    """The store, the port for metrics, and the engine that numbers are of."""

    store: Path
    port: int
    backend: Priced

    async def metrics(self) -> dict[str, float]:
        """Samples as `name{label=value,…}`, without the pair and those that are zero."""
        url = f"http://127.0.0.1:{self.port}/metrics"
        text = (await asyncio.to_thread(lambda: urllib.request.urlopen(url).read())).decode()
        return {
            f"{sample.name.removeprefix('foretype_')}{{{_labels(sample.labels)}}}": sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.value and not sample.name.endswith("_created")
        }

    async def metrics_when(self, holds: Callable[[dict[str, float]], bool]) -> dict[str, float]:
        async with asyncio.timeout(SOON):
            while not holds(found := await self.metrics()):  # noqa: ASYNC110 - reports come when they come
                await asyncio.sleep(0.02)
            return found

    def page(self) -> dict[str, Any]:
        """What the dashboard is sent."""
        with TestClient(application(self.store, Access(4000, "secret")), base_url="http://127.0.0.1:4000") as client:
            found = client.get("/api/numbers?days=1", headers={"Authorization": "Bearer secret"}).json()
        assert isinstance(found, dict)
        return found


def _labels(labels: dict[str, str]) -> str:
    return ",".join(f"{name}={labels[name]}" for name in sorted(labels.keys() - {"pair"}))


@pytest.fixture
async def recorded(serve_here: Any, tmp_path: Path) -> AsyncIterator[Any]:
    """Enters an engine that records, gives its `Places`; the store is complete when it is left."""

    @asynccontextmanager
    async def run() -> AsyncIterator[Places]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        backend = Priced()
        store = tmp_path / "numbers.sqlite"
        with recording(EngineSettings(metrics_port=port), store, backend.snapshot) as recorder:
            await serve_here(backend, recorder)
            yield Places(store, port, backend)

    return run


def headless() -> HeadlessEditor:
    return HeadlessEditor({"engine": {"start": False}})


# -- two hundred keys ------------------------------------------------------------------------------------------------


async def type_two_hundred_keys(person: Person, backend: Priced) -> None:
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
        async with headless() as editor:
            await editor.wait_ready(SOON)
            await type_two_hundred_keys(Person(editor), places.backend)
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
        ("inter_token_latency", "0.005", "0.01"),
    ):
        assert found[f"{name}_seconds_count{{}}"] == found[f"{name}_seconds_bucket{{le={over}}}"] == DONE
        assert under is None or f"{name}_seconds_bucket{{le={under}}}" not in found
    assert found["keystroke_to_suggestion_seconds_count{}"] == 110
    assert (
        found["target_pass_seconds_count{width=5-8}"] == found["target_pass_seconds_bucket{le=0.03,width=5-8}"] == DONE
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
        async with headless() as editor:
            await editor.wait_ready(SOON)
            person = Person(editor)
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
