"""A person at an editor without a screen, an engine whose requests cost what is written here, and its numbers.

Real are the language server's process, the socket, the recorder, the store, the port for metrics and the dashboard.
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

from completion_server.backend import Reply, Snapshot
from completion_server.dashboard.access import Access
from completion_server.dashboard.app import application
from completion_server.numbers.recording import recording
from completion_server.protocol import Cancelled, Complete, DraftCount, EngineMessage, Result, Round, Usage, Warm
from completion_server.scripted import Rule, ScriptedBackend
from completion_server.settings import EngineSettings
from lsp.headless import Buffer, HeadlessEditor, Suggestion

SOON = 20.0

USAGE = Usage(
    prompt_tokens=20, cached_tokens=15, computed_tokens=5, completion_tokens=6, drafted_tokens=4, accepted_tokens=3,
    target_passes=3, queue_ms=2, tokenize_ms=0.6, match_ms=0.4, first_tokens_ms=40, ttft_ms=45, e2e_ms=90,
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
    """Every request costs `USAGE`, or `STOPPED` where it is cancelled. Its memory is always `HELD`."""

    HELD = Snapshot(
        "cpu", slots_used=2, slots_total=8, kv_bytes=1_000, kv_budget_bytes=4_000, evictions=3, device_bytes=5_000
    )

    def __init__(self) -> None:
        super().__init__(lambda request: SAYS.get(request.context.before.rpartition("\n")[2], Rule()))

    def submit(self, client: int, request: Complete | Warm, received: float, reply: Reply) -> None:
        super().submit(client, request, received, lambda message: reply(_priced(message)))

    def snapshot(self) -> Snapshot:
        now = super().snapshot()
        return replace(self.HELD, running=now.running, queued=now.queued)


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

    @asynccontextmanager
    async def person(self) -> AsyncIterator[Person]:
        """Somebody at an editor on this engine, until they leave."""
        async with HeadlessEditor({"engine": {"start": False}}) as editor:
            await editor.wait_ready(SOON)
            yield Person(editor)

    async def metrics(self) -> "Samples":
        """What Prometheus would be given now."""
        url = f"http://127.0.0.1:{self.port}/metrics"
        text = (await asyncio.to_thread(lambda: urllib.request.urlopen(url).read())).decode()
        families = [family for family in text_string_to_metric_families(text) if not family.name.endswith("_created")]
        return Samples(
            {family.name.removeprefix("foretype_") for family in families},
            {
                f"{sample.name.removeprefix('foretype_')}{{{_labels(sample.labels)}}}": sample.value
                for family in families
                for sample in family.samples
                if sample.value
            },
        )

    async def metrics_when(self, holds: Callable[["Samples"], bool]) -> "Samples":
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


class Samples:
    """Samples as `name{label=value,…}`, without the pair; one that is not there is 0. Knows what it was asked for."""

    def __init__(self, families: set[str], values: dict[str, float]) -> None:
        self.unasked = families
        self._values = values

    def __contains__(self, sample: str) -> bool:
        return sample in self._values

    def __getitem__(self, sample: str) -> float:
        self._ask(sample.partition("{")[0])
        return self._values.get(sample, 0)

    def by(self, label: str, name: str) -> dict[str, float]:
        """Those of one metric, added up by one label."""
        self._ask(name)
        sums: dict[str, float] = {}
        for sample, value in self._values.items():
            if sample.startswith(f"{name}{{"):
                labels = dict(pair.split("=", 1) for pair in sample[len(name) + 1 : -1].split(","))
                sums[labels[label]] = sums.get(labels[label], 0) + value
        return sums

    def _ask(self, name: str) -> None:
        for end in ("", "_total", "_count", "_sum", "_bucket"):
            self.unasked.discard(name.removesuffix(end))


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
