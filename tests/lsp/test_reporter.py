"""What a person is told of the engine."""

from collections.abc import Awaitable, Callable
from typing import Any

from completion_server.protocol import State
from lsp.fake_engine import FakeEngine


def kinds(editor: Any) -> list[str]:
    return [params["value"]["kind"] for params in editor.notes("$/progress")]


async def test_loading_is_shown_as_progress(start_editor: Callable[..., Awaitable[Any]]) -> None:
    engine = FakeEngine(state=State("loading", "fake", "reading weights", 0.25))
    editor = await start_editor(engine)
    await editor.initialize(window={"workDoneProgress": True})
    await editor.until(lambda: kinds(editor) == ["begin"])
    engine.become(State("loading", "fake", "warming up", 0.75))
    engine.become(State("ready", "fake"))
    assert kinds(editor) == ["begin", "report", "end"]
    begin, report, end = (params["value"] for params in editor.notes("$/progress"))
    assert (begin["title"], begin["message"], begin["percentage"]) == ("Foretype", "reading weights", 25)
    assert (report["message"], report["percentage"]) == ("warming up", 75)
    assert end == {"kind": "end"}
    engine.become(State("loading", "fake"))  # again, after it was unloaded
    await editor.until(lambda: len(kinds(editor)) == 4)
    tokens = [params["token"] for params in editor.notes("$/progress")]
    assert len(set(tokens[:3])) == 1
    assert tokens[3] != tokens[0]


async def test_progress_ends_when_the_engine_dies(start_editor: Callable[..., Awaitable[Any]]) -> None:
    engine = FakeEngine(state=State("loading", "fake"))
    editor = await start_editor(engine)
    await editor.initialize({"status": True}, window={"workDoneProgress": True})
    await editor.until(lambda: kinds(editor) == ["begin"])
    engine.die()
    await editor.until(lambda: kinds(editor) == ["begin", "end"])
    assert editor.notes("foretype/status")[-1]["phase"] == "unavailable"


async def test_a_client_without_progress_gets_none(start_editor: Callable[..., Awaitable[Any]]) -> None:
    engine = FakeEngine(state=State("loading", "fake"))
    editor = await start_editor(engine)
    await editor.initialize({"status": True})
    await editor.until(lambda: editor.notes("foretype/status"))
    assert not [message for message in editor.sent if "rogress" in message.get("method", "")]


async def test_an_outage_is_one_message_and_its_end_a_line_in_the_log(editor: Any, engine: FakeEngine) -> None:
    editor.open("x = ")
    engine.die()
    await editor.until(lambda: editor.notes("window/showMessage"))
    for _ in range(5):
        assert await editor.ghost(0, 4) is None
    assert len(editor.notes("window/showMessage")) == 1
    assert {trace["outcome"] for trace in editor.notes("foretype/trace")} == {"unavailable"}
    editor.server.link.worked()
    assert len(editor.notes("window/logMessage")) == 1
