"""Prefilling before the first key: on open, after a switch of file, when typing rests; never in the way of a key."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from completion_server.errors import RequestCancelled
from completion_server.protocol import Context, State, Warmed
from lsp.fake_engine import FakeEngine

OTHER = "file:///project/other.py"


@pytest.fixture
async def editor(start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine) -> Any:
    """In place of the common one: a cursor rests as soon as the loop is idle."""
    editor = await start_editor(engine)
    editor.server.warmer._rest = 0.0
    await editor.initialize()
    await editor.connected()
    return editor


async def warmed(engine: FakeEngine) -> list[str]:
    async with asyncio.timeout(10):
        await engine.arrived.wait()
    engine.arrived.clear()
    return [context.before for context in engine.warmed]


async def test_the_head_of_a_file_is_warmed_on_open(editor: Any, engine: FakeEngine) -> None:
    editor.open("0123456789abcdef\n" * 1_000)
    [before] = await warmed(engine)
    assert 8_000 < len(before) <= 8_192
    assert before.startswith("0123456789abcdef\n")


async def test_of_files_opened_together_the_last_one_is_warmed(editor: Any, engine: FakeEngine) -> None:
    editor.open("one\n")
    editor.open("two\n", uri=OTHER)
    assert await warmed(engine) == ["two\n"]


async def test_a_rest_after_typing_warms_at_the_cursor(editor: Any, engine: FakeEngine) -> None:
    editor.open("a\nb\n")
    await warmed(engine)
    editor.insert(0, 1, "x")
    editor.insert(0, 2, "y")
    assert await warmed(engine) == ["a\nb\n", "axy"]


async def test_a_switch_of_file_warms_where_the_cursor_was(editor: Any, engine: FakeEngine) -> None:
    editor.open("a = \n")
    editor.open("b = \nc\n", uri=OTHER)
    await editor.ghost(0, 4, uri=OTHER)
    engine.warmed.clear()
    engine.arrived.clear()
    editor.insert(0, 4, "1")
    assert await warmed(engine) == ["a = 1"]


async def test_where_a_cursor_has_gone_to_is_warmed(editor: Any, engine: FakeEngine) -> None:
    editor.open("a\nb\nc\n")
    await warmed(engine)
    editor.notify(
        "foretype/cursor", {"textDocument": {"uri": "file:///project/app.py"}, "position": {"line": 1, "character": 1}}
    )
    assert await warmed(engine) == ["a\nb\nc\n", "a\nb"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        None,
        [],
        {"textDocument": {"uri": "file:///not/open.py"}, "position": {"line": 0, "character": 0}},
        {"textDocument": {"uri": 7}, "position": {"line": 0, "character": 0}},
        {"textDocument": {}, "position": {"line": True, "character": 0}},
        {"textDocument": {"uri": OTHER}, "position": {"line": "1", "character": 0.5}},
    ],
)
async def test_a_cursor_that_is_none_does_no_harm(editor: Any, engine: FakeEngine, params: Any) -> None:
    editor.open("a = ")
    await warmed(engine)
    editor.notify("foretype/cursor", params)
    await editor.ghost(0, 4)
    assert editor.notes("window/showMessage") == []


async def test_models_that_were_just_loaded_are_warmed_for_the_file_at_hand(
    start_editor: Callable[..., Awaitable[Any]],
) -> None:
    engine = FakeEngine(state=State("loading", "fake"))
    editor = await start_editor(engine)
    editor.server.warmer._rest = 0.0
    await editor.initialize({"status": True})
    editor.open("a\n")
    await editor.until(lambda: editor.notes("foretype/status"))
    engine.become(State("ready", "fake"))
    assert await warmed(engine) == ["a\n"]


async def test_a_key_ends_it(editor: Any, engine: FakeEngine) -> None:
    ended = asyncio.Event()

    async def warm(context: Context) -> Warmed:
        engine.arrived.set()
        try:
            return await asyncio.Future()
        except asyncio.CancelledError:
            ended.set()
            raise

    engine.warm = warm  # type: ignore[method-assign]
    editor.open("a = ")
    async with asyncio.timeout(10):
        await engine.arrived.wait()
        await editor.ghost(0, 4)
        await ended.wait()


async def test_a_refusal_is_not_worth_a_word(editor: Any, engine: FakeEngine) -> None:
    async def warm(context: Context) -> Warmed:
        engine.arrived.set()
        raise RequestCancelled("the request was cancelled (superseded)")

    engine.warm = warm  # type: ignore[method-assign]
    editor.open("a = ")
    async with asyncio.timeout(10):
        await engine.arrived.wait()
    await editor.ghost(0, 4)
    assert editor.notes("window/showMessage") == []


async def test_a_disabled_server_warms_nothing(editor: Any, engine: FakeEngine) -> None:
    editor.notify("workspace/didChangeConfiguration", {"settings": {"foretype": {"enabled": False}}})
    editor.open("a = ")
    for _ in range(5):
        await asyncio.sleep(0)
    assert engine.warmed == []
