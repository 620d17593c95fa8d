"""What a person can do with the engine from an editor, with and without one."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from completion_server.errors import ModelNotFound, SettingsError
from completion_server.protocol import State
from lsp import commands
from lsp.fake_engine import FakeEngine


class Supply:
    """A way to engines that start when they are asked for."""

    def __init__(self) -> None:
        self.engines: list[FakeEngine] = []

    async def connect(self, on_state: Any) -> FakeEngine:
        if not self.engines or self.engines[-1].closed:
            self.engines.append(FakeEngine(lambda _: "1"))
        return await self.engines[-1].connect(on_state)


@pytest.fixture
def supply() -> Supply:
    return Supply()


@pytest.fixture
async def editor(start_editor: Callable[..., Awaitable[Any]], supply: Supply) -> Any:
    editor = await start_editor(supply)
    await editor.initialize({"status": True})
    await editor.connected()
    return editor


async def run(editor: Any, command: str, *arguments: Any) -> Any:
    request = f"{command}-{len(editor.sent)}"
    params = {"command": command, "arguments": list(arguments)}
    editor.send({"id": request, "method": "workspace/executeCommand", "params": params})
    return (await editor.reply(request))["result"]


def phases(editor: Any) -> list[str]:
    return [note["phase"] for note in editor.notes("foretype/status")]


async def test_stopped_stays_stopped_until_it_is_started(editor: Any, supply: Supply) -> None:
    editor.open("x = ")
    assert await run(editor, "foretype.stop") == {"ok": True, "message": ""}
    assert supply.engines[0].closed
    assert phases(editor)[-1] == "stopped"
    assert await editor.ghost(0, 4) is None
    assert await editor.ghost(0, 4, invoked=True) is None  # at once
    editor.notify("workspace/didChangeConfiguration", {"settings": {"foretype": {"status": True}}})
    assert len(supply.engines) == 1
    assert editor.notes("window/showMessage") == []  # the person knows
    assert await run(editor, "foretype.start") == {"ok": True, "message": ""}
    await editor.connected()
    assert await editor.ghost(0, 4) == "1"
    assert phases(editor)[-1] == "ready"


async def test_restart_is_another_engine(editor: Any, supply: Supply) -> None:
    assert (await run(editor, "foretype.restart"))["ok"]
    await editor.connected()
    assert [engine.closed for engine in supply.engines] == [True, False]


async def test_start_and_stop_twice_do_no_harm(editor: Any, supply: Supply) -> None:
    for command in ("stop", "stop", "start", "start"):
        assert (await run(editor, f"foretype.{command}"))["ok"]
    await editor.connected()
    assert len(supply.engines) == 2


async def test_another_pair_is_used_by_the_engine_that_runs(editor: Any, supply: Supply) -> None:
    assert await run(editor, "foretype.usePair", "qwen-7b-0.5b") == {"ok": True, "message": ""}
    assert supply.engines[-1].state.pair == "qwen-7b-0.5b"
    assert len(supply.engines) == 1
    assert editor.server.pair == "qwen-7b-0.5b"  # an engine that is started later loads it too


async def test_a_pair_that_the_engine_cannot_use_leaves_the_old_one(editor: Any, supply: Supply) -> None:
    supply.engines[0].pair_refusal = ModelNotFound("run foretype pull qwen-7b-0.5b")
    answer = await run(editor, "foretype.usePair", "qwen-7b-0.5b")
    assert answer == {"ok": False, "message": "run foretype pull qwen-7b-0.5b"}
    assert (supply.engines[0].state.pair, editor.server.pair) == ("fake", None)


async def test_without_an_engine_one_is_started_with_the_pair(editor: Any, supply: Supply) -> None:
    await run(editor, "foretype.stop")
    assert (await run(editor, "foretype.usePair", "qwen-7b-0.5b"))["ok"]
    await editor.connected()
    assert (editor.server.pair, len(supply.engines)) == ("qwen-7b-0.5b", 2)


async def test_while_another_pair_loads_nothing_is_warmed_anew(editor: Any, supply: Supply) -> None:
    ready = 0

    def counted() -> None:
        nonlocal ready
        ready += 1

    editor.server.engine_ready = counted
    for state in (
        State("ready", "fake", "switching to new", 0.1),
        State("ready", "fake", "switching to new", 0.9),
        State("ready", "new"),
    ):
        supply.engines[0].become(state)
    assert ready == 1
    assert [note["fraction"] for note in editor.notes("foretype/status")[-3:]] == [0.1, 0.9, None]


@pytest.mark.parametrize("arguments", [["never-heard-of"], [], [5], [None]])
async def test_an_unknown_pair_is_refused_in_one_line_and_the_old_one_goes_on(
    editor: Any, supply: Supply, arguments: list[Any]
) -> None:
    answer = await run(editor, "foretype.usePair", *arguments)
    assert answer["ok"] is False
    assert "embedded" in answer["message"]
    assert "\n" not in answer["message"]
    editor.open("x = ")
    assert await editor.ghost(0, 4) == "1"
    assert len(supply.engines) == 1


async def test_no_pair_is_used_where_no_engine_may_be_started(editor: Any, supply: Supply) -> None:
    await run(editor, "foretype.stop")
    editor.notify("workspace/didChangeConfiguration", {"settings": {"foretype": {"engine": {"start": False}}}})
    answer = await run(editor, "foretype.usePair", "embedded")
    assert (answer["ok"], "engine.start" in answer["message"]) == (False, True)
    assert len(supply.engines) == 1


async def test_a_file_of_pairs_that_cannot_be_read(editor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        raise SettingsError("pairs.toml: what is this")

    monkeypatch.setattr(commands, "known_pairs", broken)
    assert await run(editor, "foretype.usePair", "x") == {"ok": False, "message": "pairs.toml: what is this"}
    assert await run(editor, "foretype.pairs") == []


async def test_pairs_are_listed_with_the_one_that_is_loaded(editor: Any, supply: Supply) -> None:
    supply.engines[0].become(State("ready", "embedded"))
    listed = {pair["name"]: pair for pair in await run(editor, "foretype.pairs")}
    assert set(listed["embedded"]) == {"name", "target", "draft", "loaded"}
    assert (listed["embedded"]["target"], listed["embedded"]["loaded"]) == ("embedded", True)
    assert listed["qwen-7b-0.5b"]["loaded"] is False
    assert listed["qwen-7b-0.5b"]["draft"] == "Qwen/Qwen2.5-Coder-0.5B"


def hops(status: dict[str, Any]) -> list[tuple[str, bool]]:
    return [(hop["name"], hop["ok"]) for hop in status["hops"]]


async def test_the_status_follows_the_way_to_a_suggestion(editor: Any) -> None:
    editor.open("x = ")
    await editor.ghost(0, 4)
    status = await run(editor, "foretype.status")
    assert hops(status) == [("language server", True), ("engine", True), ("models", True), ("suggestions", True)]
    assert (status["phase"], status["pair"], status["problem"]) == ("ready", "fake", None)
    assert status["hops"][2]["detail"] == "fake: fake on cpu in float32"
    assert status["hops"][3]["detail"] == "1 answered, first tokens after 1 ms (median, warm)"
    assert (status["warm_ttft_ms"], status["acceptance_today"]) == (1.0, None)
    assert status["socket"].endswith("engine.sock")
    assert status["log"] is None


async def test_the_status_ends_at_the_first_hop_that_is_broken(editor: Any, supply: Supply) -> None:
    engine = supply.engines[0]
    engine.become(State("failed", "fake", "model x is not there: foretype pull x"))
    status = await run(editor, "foretype.status")
    assert hops(status)[-1] == ("models", False)
    assert status["hops"][-1]["detail"] == status["problem"] == "model x is not there: foretype pull x"
    engine.become(State("loading", "fake", "reading weights", 0.5))
    assert (await run(editor, "foretype.status"))["hops"][-1]["detail"] == "fake: reading weights, wait a moment"
    await run(editor, "foretype.stop")
    status = await run(editor, "foretype.status")
    assert hops(status) == [("language server", True), ("engine", False)]
    assert status["phase"] == "stopped"


async def test_without_an_engine_the_status_says_why(
    start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine
) -> None:
    engine.die()
    editor = await start_editor(engine)
    await editor.initialize({"status": True})
    await editor.until(lambda: editor.notes("foretype/status"))
    status = await run(editor, "foretype.status")
    assert hops(status) == [("language server", True), ("engine", False)]
    assert status["hops"][-1]["detail"] == status["problem"] == "No suggestions: no engine is running."
    assert status["phase"] == "unavailable"


async def test_a_changed_acceptance_is_told_and_latency_only_now_and_then(editor: Any, supply: Supply) -> None:
    editor.open("x = ")
    [item] = await editor.items(editor.ask(0, 4))
    told = len(editor.notes("foretype/status"))
    editor.insert(0, 4, "1")
    await run(editor, "foretype.accepted", *item["command"]["arguments"])
    assert len(editor.notes("foretype/status")) == told + 1
    note = editor.notes("foretype/status")[-1]
    assert (note["phase"], note["acceptance_today"], note["warm_ttft_ms"]) == ("ready", 1.0, 1.0)
