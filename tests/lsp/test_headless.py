"""The editor without a screen, on the real language server and an engine by script."""

import asyncio
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from completion_server.errors import EngineUnavailable, ModelError
from completion_server.scripted import Rule, Script, ScriptedBackend
from lsp.headless import HeadlessEditor, language_of, suggest_once

FILE = Path("/project/app.py")
NO_START = {"engine": {"start": False}}
SOON = 20.0


async def until(holds):
    while not holds():  # noqa: ASYNC110 - the engine is on a thread and has nobody to tell
        await asyncio.sleep(0.01)


@pytest.fixture
async def editor(scripted):
    await scripted(Rule("a + b\n", match="return "), Rule("c\n", match="return a + "))
    async with HeadlessEditor(NO_START) as editor:
        await editor.wait_ready(SOON)
        yield editor


def test_what_a_trace_nests_is_plain_too():
    count = namedtuple("Object", ["drafter", "accepted"])("n-gram", 3)  # as pygls gives what it does not know
    editor = HeadlessEditor()
    editor._take_trace(namedtuple("Object", ["request", "drafts"])(1, [count]))
    assert editor._traces[1]["drafts"] == [{"drafter": "n-gram", "accepted": 3}]


async def test_a_suggestion_its_time_and_its_trace(editor):
    buffer = editor.open(FILE, "def add(a, b):\n    return")
    buffer.insert(" ")
    suggestion = await buffer.suggest()
    assert suggestion.text == "a + b"
    assert suggestion.trace["outcome"] == "engine"
    assert suggestion.trace["prompt_tokens"] == len("def add(a, b):\n    return ")
    assert suggestion.trace["drafted_by"] == {}
    assert suggestion.key_ms >= suggestion.trace["e2e_ms"]


async def test_typing_through_needs_no_engine(editor):
    buffer = editor.open(FILE, "return ")
    assert (await buffer.suggest()).text == "a + b"
    buffer.insert("a")
    suggestion = await buffer.suggest()
    assert (suggestion.text, suggestion.trace["outcome"]) == (" + b", "from-cache")
    buffer.delete_back()
    assert (await buffer.suggest()).text == "a + b"


async def test_what_all_of_a_growing_suggestion_cost(scripted, caplog):
    await scripted(Rule("x = 1\n    y = 2\n    return x\n", chunks=7, delay_ms=20))
    async with HeadlessEditor({**NO_START, "stream": True}) as editor:
        await editor.wait_ready(SOON)
        suggestion = await editor.open(FILE, "def f():\n    ").suggest()
        assert (suggestion.text, suggestion.trace["outcome"]) == ("x = 1", "growing")
        request = suggestion.trace["request"]
        await until(lambda: request in editor.grown)
    assert suggestion.trace["completion_tokens"] == 0
    assert editor.grown[request]["completion_tokens"] > len("x = 1")
    assert not caplog.records


async def test_the_buffer_is_what_the_server_has(editor):
    buffer = editor.open(FILE, "x = 1\n😀é\n")
    buffer.move(1, 2)
    buffer.insert("\nreturn a + b")
    buffer.delete_back(2)
    assert buffer.text == "x = 1\n😀é\nreturn a +\n"
    buffer.insert(" ")
    assert (await buffer.suggest()).text == "c"


async def test_several_documents(editor):
    one, two = editor.open(FILE, "return "), editor.open(FILE, "", name="other.py")
    assert (await two.suggest()).text == ""
    assert (await one.suggest()).text == "a + b"
    one.close()
    assert (await two.suggest()).text == ""


async def test_states_are_reported(serve_here):
    states = []
    await serve_here(ScriptedBackend(Script(load_ms=50)))
    async with HeadlessEditor(NO_START, on_state=states.append) as editor:
        await editor.wait_ready(SOON)
    assert states[-1].phase == "ready"


async def test_models_that_do_not_load_are_an_error_with_their_reason(serve_here):
    await serve_here(ScriptedBackend(Script(load_error="no such model: pull it")))
    async with HeadlessEditor(NO_START) as editor:
        with pytest.raises(ModelError, match="pull it"):
            await editor.wait_ready(SOON)


async def test_without_an_engine_the_reason_is_what_the_editor_was_told():
    async with HeadlessEditor(NO_START) as editor:
        with pytest.raises(EngineUnavailable, match="no engine is running"):
            await editor.wait_ready(SOON)
    assert len(editor.messages) == 1


async def test_a_server_that_ends_is_an_error_with_its_last_words(scripted):
    await scripted()
    async with HeadlessEditor(NO_START) as editor:
        await editor.wait_ready(SOON)
        buffer = editor.open(FILE, "x")
        editor._client._server.kill()
        with pytest.raises(EngineUnavailable, match="language server has ended"):
            await buffer.suggest()


async def test_a_server_that_does_not_start():
    command = (sys.executable, "-c", "import sys; sys.exit('broken')")
    with pytest.raises(EngineUnavailable, match="broken"):
        async with HeadlessEditor(command=command):
            pass


async def test_a_request_whose_task_is_cancelled_is_cancelled_in_the_engine(scripted):
    engine = await scripted(Rule("1\n", match="fast + "), Rule("2\n", delay_ms=60_000))
    async with HeadlessEditor(NO_START) as editor:
        await editor.wait_ready(SOON)
        buffer = editor.open(FILE, "slow = ")
        asked = asyncio.create_task(buffer.suggest())
        async with asyncio.timeout(SOON):
            await until(lambda: engine.snapshot().running)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            await until(lambda: engine.snapshot().cancelled)
        buffer.insert("fast + ")
        assert (await buffer.suggest()).text == "1"


async def test_suggest_once(scripted):
    await scripted(Rule("a + b\n", match="return "))
    text, trace = await asyncio.wait_for(suggest_once(FILE, "x\nreturn \ny\n", 1, 7), SOON)
    assert text == "a + b"
    assert trace["prompt_tokens"] == len("x\nreturn ")


def test_languages():
    assert language_of(Path("a/b.PY")) == "python"
    assert language_of(Path("Makefile")) == "plaintext"
