"""The whole path on the embedded model, in real processes: cancels, a killed engine, and a replay.

One engine serves most tests of this file: loading takes seconds.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bench.private_engine import PrivateEngine
from completion_server.client import EngineClient, connect
from completion_server.errors import EngineUnavailable, RequestCancelled
from completion_server.paths import RuntimePaths
from completion_server.protocol import Context, Decoding, Limits, Result
from lsp.headless import HeadlessEditor, language_of

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

SOON = 120.0
SOURCE = Path(asyncio.__file__).with_name("tasks.py").read_text(encoding="utf-8")
LONG = SOURCE[:9_000]  # about 2,000 tokens
FILES = {
    "shop.py": "class Basket:\n    def add(self, i):\n        self.items.add(i)\n\n    def total(self):\n        ret",
    "shop.js": "function total(items) {\n  let sum = 0;\n  for (const item of items) {\n    sum += ",
    "shop.go": 'package shop\n\nimport "fmt"\n\nfunc Print(items []string) {\n\tfor _, item := range items {\n\t\tfmt.',
    "shop.ts": "export function total(items: Item[]): number {\n  return items.",
    "shop.rs": "fn total(items: &[Item]) -> u32 {\n    items.iter().",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[PrivateEngine]:
    async with PrivateEngine("embedded") as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def client(engine: PrivateEngine) -> AsyncIterator[EngineClient]:
    paths = RuntimePaths(Path(engine.environment["FORETYPE_RUNTIME_DIR"]))
    connected = await connect(name="test", paths=paths)
    yield connected
    await connected.aclose()


def context(before: str, document: str = "a.py", after: str = "\n") -> Context:
    return Context(document, 1, before, after, language="python")


@pytest.mark.usefixtures("embedded_model")
@pytest.mark.parametrize("name", FILES)
async def test_ghost_text_in_five_languages(engine: PrivateEngine, name: str) -> None:
    async with HeadlessEditor({"engine": {"start": False}}, environment=engine.environment) as editor:
        await editor.wait_ready(SOON)
        buffer = editor.open(Path(name), FILES[name][:-1])
        buffer.move(FILES[name].count("\n"), len(FILES[name]) - FILES[name].rfind("\n") - 2)
        buffer.insert(FILES[name][-1])
        suggestion = await buffer.suggest(invoked=True)
    assert suggestion.text.strip()
    assert suggestion.trace["outcome"] == "engine"
    assert language_of(Path(name)) != "plaintext"


@pytest.mark.usefixtures("embedded_model")
async def test_cancel_while_it_waits_behind_another(client: EngineClient) -> None:
    """seq-cancel-queued: with 2,000 prompt tokens and 256 new ones wanted."""
    busy = asyncio.create_task(client.complete(context(LONG + "# first\n", "first.py"), limits=Limits(256, 99)))
    waiting = asyncio.create_task(client.complete(context(LONG + "# second\n", "second.py"), limits=Limits(256, 99)))
    await asyncio.sleep(0)
    await cancel(waiting)
    await cancel(busy)
    await settled(client)


@pytest.mark.usefixtures("embedded_model")
async def test_cancel_in_prefill_and_after_the_first_token(client: EngineClient) -> None:
    """seq-cancel-prefill, seq-cancel-decode: then the same request gives what it gives where nothing was cancelled."""
    prompt = LONG + "# third\n"
    wanted = await client.complete(context(prompt, "reference.py"), decoding=Decoding(drafting=False))

    cold = asyncio.create_task(client.complete(context("# cold\n" + prompt, "cold.py"), limits=Limits(256, 99)))
    await asyncio.sleep(0.005)
    await cancel(cold)
    await settled(client)

    first_text = asyncio.Event()
    decoding = asyncio.create_task(
        client.complete(context(prompt, "decoding.py"), limits=Limits(256, 99), on_delta=lambda _: first_text.set())
    )
    async with asyncio.timeout(SOON):
        await first_text.wait()
    await cancel(decoding)
    await settled(client)

    assert (await client.complete(context(prompt, "decoding.py"))).text == wanted.text


@pytest.mark.usefixtures("embedded_model")
async def test_a_newer_key_supersedes_and_only_the_last_is_answered(client: EngineClient) -> None:
    """seq-storm at the engine's socket."""
    asked = [asyncio.create_task(client.complete(context(LONG + "x" * n, "storm.py"))) for n in range(70)]
    done = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), SOON)
    assert isinstance(done[-1], Result)
    assert all(isinstance(reply, RequestCancelled | Result) for reply in done)
    assert sum(1 for reply in done if isinstance(reply, RequestCancelled)) >= 68


@pytest.mark.usefixtures("embedded_model")
async def test_a_key_costs_a_few_tokens(client: EngineClient) -> None:
    await client.warm(context(LONG, "warm.py"))
    usage = (await client.complete(context(LONG + "d", "warm.py"))).usage
    assert usage.computed_tokens <= 6
    assert usage.cached_tokens + usage.computed_tokens == usage.prompt_tokens
    assert usage.prompt_tokens > 1_500


@pytest.mark.usefixtures("embedded_model")
async def test_an_engine_that_is_killed_in_the_middle_of_a_request() -> None:
    """seq-engine-dies: the client is told at once, and a new engine serves the same client code."""
    async with PrivateEngine("embedded") as engine:
        paths = RuntimePaths(Path(engine.environment["FORETYPE_RUNTIME_DIR"]))
        client = await connect(name="test", paths=paths)
        request = asyncio.create_task(client.complete(context(LONG), limits=Limits(256, 99)))
        await asyncio.sleep(0.05)
        os.kill(client.pid, signal.SIGKILL)
        async with asyncio.timeout(2.0):
            with pytest.raises(EngineUnavailable):
                await request
        await client.aclose()


@pytest.mark.usefixtures("embedded_model")
async def test_replay_types_real_code_without_a_difference() -> None:
    """A short replay through language server and engine; drafting on and off must suggest the same at every key."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.json"
        with output.open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench.replay", "--pair", "embedded", "--files", textwrap.__file__),
                *("--keys", "24", "--seed", "3", "--cold", "0", "--json"),
                stdout=out,
            )
        assert await asyncio.wait_for(process.wait(), 4 * SOON) == 0
        result = json.loads(output.read_text())
    assert result["identical_to_target_only"] is True
    assert result["cached_token_ratio"] >= 0.4  # one cold key of the few that ask the engine; others are typed through
    assert result["computed_tokens_per_key"]["p50"] <= 3
    assert result["shown"] > 0


async def cancel(task: "asyncio.Task[Result]") -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def settled(client: EngineClient) -> None:
    """Wait until the engine has nothing to do; a cancelled request may have one pass in flight."""
    async with asyncio.timeout(SOON):
        while True:
            status = await client.status()
            if status.running + status.queued == 0:
                return
            await asyncio.sleep(0.01)
