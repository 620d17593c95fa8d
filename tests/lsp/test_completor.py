"""Sequences of keys, requests, cancels and late answers. The promise: one reply per request, and none of them stale."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from completion_server.errors import Overloaded, RequestError
from completion_server.protocol import Context, State
from lsp import asking
from lsp.completor import Completor
from lsp.document import Document
from lsp.engine_link import EngineLink
from lsp.fake_engine import FakeEngine, failing
from lsp.settings import Settings
from lsp.text import Position

GHOST = "createModelServices()"


def outcomes(editor: Any) -> list[str]:
    return [trace["outcome"] for trace in editor.notes("foretype/trace")]


async def type_text(editor: Any, text: str, line: int, column: int) -> list[str | None]:
    """Type key by key; what is shown after each key."""
    shown = []
    for number, key in enumerate(text):
        editor.insert(line, column + number, key)
        shown.append(await editor.ghost(line, column + number + 1))
    return shown


async def test_typing_through_asks_once_and_backspace_brings_the_longer_one_back(
    editor: Any, engine: FakeEngine
) -> None:
    engine.say = lambda _: GHOST
    editor.open("x = ")
    assert await editor.ghost(0, 4) == GHOST
    assert await type_text(editor, GHOST[:8], 0, 4) == [GHOST[number:] for number in range(1, 9)]
    editor.change((0, 11), (0, 12), "")
    assert await editor.ghost(0, 11) == GHOST[7:]
    assert await type_text(editor, GHOST[7:-1], 0, 11) == [GHOST[number:] for number in range(8, len(GHOST))]
    assert len(engine.asked) == 1
    assert set(outcomes(editor)) == {"engine", "from-cache"}


async def test_typing_something_else_asks_again_and_never_shows_the_old_one(editor: Any, engine: FakeEngine) -> None:
    answers = iter(["bar", "yz"])
    engine.say = lambda _: next(answers)
    editor.open("foo")
    assert await editor.ghost(0, 3) == "bar"
    editor.insert(0, 3, "x")
    assert await editor.ghost(0, 4) == "yz"
    editor.change((0, 3), (0, 4), "")
    assert await editor.ghost(0, 3) == "bar"  # it holds again
    assert len(engine.asked) == 2


async def test_an_edit_elsewhere_ends_what_was_kept(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda context: "one" if context.before.startswith("a") else "two"
    editor.open("a\nx = \nb")
    assert await editor.ghost(1, 4) == "one"
    editor.change((0, 0), (0, 1), "c")
    assert await editor.ghost(1, 4) == "two"
    editor.insert(2, 1, "c")
    await editor.ghost(1, 4)
    assert len(engine.asked) == 3


async def test_a_closer_that_the_editor_inserts_does_not_end_typing_through(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "print(x)\n"
    editor.open("")
    assert await editor.ghost(0, 0) == "print(x)"
    editor.insert(0, 0, "print")
    editor.insert(0, 5, "()")
    assert await editor.ghost(0, 6) == "x"
    assert len(engine.asked) == 1


async def test_typing_through_a_line_end_of_two_characters(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1\n    y = 2\n"
    editor.open("def f():\r\n    x = \r\n", language="plaintext")
    assert await editor.ghost(1, 8) == "1\r\n    y = 2"
    editor.insert(1, 8, "1\r\n    ")
    assert await editor.ghost(2, 4) == "y = 2"
    assert len(engine.asked) == 1


async def test_a_newer_request_supersedes_and_each_gets_one_reply(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1)"
    engine.hold()
    editor.open("x = ")
    first = editor.ask(0, 4)
    await asyncio.sleep(0)
    editor.insert(0, 4, "(")
    second = editor.ask(0, 5)
    assert await editor.items(first) == []
    engine.release()
    assert len(await editor.items(second)) == 1
    assert outcomes(editor) == ["superseded", "engine"]
    assert engine.cancelled == 1


async def test_a_cancel_is_carried_to_the_engine(editor: Any, engine: FakeEngine) -> None:
    engine.hold()
    editor.open("x = ")
    request = editor.ask(0, 4)
    async with asyncio.timeout(10):
        await engine.arrived.wait()
    editor.cancel(request)
    reply = await editor.reply(request)
    assert reply["error"] == {"code": -32800, "message": "The request was cancelled."}
    assert engine.cancelled == 1
    assert outcomes(editor) == ["cancelled"]
    editor.cancel(request)  # once more, and one that never was
    editor.cancel(999)
    engine.release()
    engine.say = lambda _: "1"
    assert await editor.ghost(0, 4) == "1"
    assert len(editor.replies(request)) == 1


@pytest.mark.parametrize("cancel_first", [True, False])
async def test_a_storm_of_requests(editor: Any, engine: FakeEngine, cancel_first: bool) -> None:
    engine.say = lambda _: "1"
    engine.hold()
    editor.open("x = ")
    requests: list[int] = []
    for _ in range(70):
        if requests and cancel_first:
            editor.cancel(requests[-1])
        requests.append(editor.ask(0, 4))
        if len(requests) > 1 and not cancel_first:
            editor.cancel(requests[-2])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    engine.release()
    assert len(await editor.items(requests[-1])) == 1
    for request in requests:
        await editor.reply(request)
        assert len(editor.replies(request)) == 1
    assert len(outcomes(editor)) == 70


async def test_an_answer_that_still_holds_gives_its_rest(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "bar"
    engine.hold()
    editor.open("foo")
    request = editor.ask(0, 3)
    async with asyncio.timeout(10):
        await engine.arrived.wait()
    editor.insert(0, 3, "b")
    engine.release()
    [item] = await editor.items(request)
    assert item["insertText"] == "ar"
    assert item["range"]["start"] == {"line": 0, "character": 4}


@pytest.mark.parametrize(
    "then",
    [
        lambda editor: editor.insert(0, 3, "x"),  # other text than suggested
        lambda editor: editor.insert(0, 0, "b"),  # elsewhere
        lambda editor: editor.change((0, 0), (1, 0), ""),  # its line is gone
        lambda editor: editor.close_document(),
        lambda editor: (editor.close_document(), editor.open("foo\nmore")),
    ],
)
async def test_an_answer_that_comes_too_late_is_dropped(
    editor: Any, engine: FakeEngine, then: Callable[[Any], None]
) -> None:
    engine.say = lambda _: "bar"
    engine.hold()
    editor.open("foo\nmore")
    request = editor.ask(0, 3)
    async with asyncio.timeout(10):
        await engine.arrived.wait()
    then(editor)
    editor.open("other", uri="file:///project/other.py")
    engine.release()
    assert await editor.items(request) == []
    assert outcomes(editor)[0] in ("stale", "superseded")


async def test_requests_for_two_documents_do_not_disturb_each_other(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda context: context.before[0]
    engine.hold()
    other = "file:///project/other.py"
    editor.open("a = ")
    editor.open("b = ", uri=other)
    first, second = editor.ask(0, 4), editor.ask(0, 4, uri=other)
    await asyncio.sleep(0)
    engine.release()
    assert [item["insertText"] for item in await editor.items(first)] == ["a"]
    assert [item["insertText"] for item in await editor.items(second)] == ["b"]


async def test_nothing_is_asked_in_the_middle_of_a_word_unless_by_hand(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "X"
    editor.open("foobar")
    assert await editor.ghost(0, 3) is None
    assert engine.asked == []
    assert outcomes(editor) == ["unwanted"]
    assert await editor.ghost(0, 3, invoked=True) == "X"


async def test_while_the_engine_loads_a_key_gets_an_empty_answer_at_once(
    start_editor: Callable[..., Awaitable[Any]],
) -> None:
    engine = FakeEngine(lambda _: "1", State(phase="loading", pair="fake"))
    editor = await start_editor(engine)
    await editor.initialize({"trace": True, "status": True})
    await editor.until(lambda: editor.notes("foretype/status"))
    editor.open("x = ")
    assert await editor.ghost(0, 4) is None
    by_hand = editor.ask(0, 4, invoked=True)
    await asyncio.sleep(0)
    engine.become(State(phase="ready", pair="fake"))
    assert len(await editor.items(by_hand)) == 1
    assert outcomes(editor)[-1] == "engine"


async def test_a_person_who_asks_by_hand_does_not_wait_for_ever(
    start_editor: Callable[..., Awaitable[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "INVOKED_WAIT", 0.01)
    engine = FakeEngine(lambda _: "1", State(phase="loading", pair="fake"))
    editor = await start_editor(engine)
    await editor.initialize()
    editor.open("x = ")
    assert await editor.ghost(0, 4, invoked=True) is None


async def test_unloaded_models_are_loaded_by_the_first_key(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1"
    editor.open("x = ")
    engine.become(State(phase="unloaded", pair="fake"))
    engine.arrived.clear()
    assert await editor.ghost(0, 4) is None
    async with asyncio.timeout(10):
        await engine.arrived.wait()
    assert [context.before for context in engine.warmed] == ["x = "]
    engine.become(State(phase="ready", pair="fake"))
    assert await editor.ghost(0, 4) == "1"


async def test_failures_give_empty_answers_and_one_message_for_many(editor: Any, engine: FakeEngine) -> None:
    editor.open("x = ")
    engine.say = failing(Overloaded("the queue is full"))
    for _ in range(5):
        assert await editor.ghost(0, 4) is None
    assert editor.notes("window/showMessage") == []  # passes by itself
    engine.say = failing(RequestError("something broke"))
    for _ in range(5):
        assert await editor.ghost(0, 4) is None
    assert len(editor.notes("window/showMessage")) == 1
    engine.say = lambda _: "1"
    assert await editor.ghost(0, 4) == "1"
    assert len(editor.notes("window/logMessage")) == 1


async def test_an_engine_that_is_silent_for_too_long(
    editor: Any, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "LONGEST_REQUEST", 0.01)
    engine.hold()
    editor.open("x = ")
    assert await editor.ghost(0, 4) is None
    assert outcomes(editor) == ["error"]


async def test_a_closed_document_is_forgotten_by_the_engine(editor: Any, engine: FakeEngine) -> None:
    editor.open("x = ")
    await editor.ghost(0, 4)
    editor.close_document()
    editor.open("x = ", uri="file:///project/other.py")
    await editor.ghost(0, 4, uri="file:///project/other.py")
    assert engine.closed_documents == [engine.asked[0].document]


TARGET = "def f(a):\n    return [a, 1]\n"


def continued(context: Context) -> str:
    """An engine that wants `TARGET` to be written, and has nothing to say to any other text."""
    return TARGET[len(context.before) :] if TARGET.startswith(context.before) else ""


@settings(max_examples=60)
@given(st.lists(st.one_of(st.integers(1, 5), st.sampled_from(["back", "x", "undo", "enter"])), max_size=25))
def test_whatever_is_typed_no_stale_text_is_shown(keys: list[int | str]) -> None:
    """A number types so many characters of the target."""
    asyncio.run(type_keys(keys))


async def type_keys(keys: list[int | str]) -> None:
    engine = FakeEngine(continued)
    link = EngineLink(engine.connect, Silent())
    link.start()
    await link.wait_ready(10)
    document = Document("d1", "file:///a.py", language="python", encoding="utf-32")
    completor = Completor(document, "a.py", ("/a.py",), link, Settings())
    for key in keys:
        end = document.text.end
        source = str(document.text)
        match key:
            case int():
                new, start = TARGET[len(source) : len(source) + key], end
            case "back":
                new, start = "", document.text.back(end, 1)
            case "undo":
                new, start = "", Position(0, 0)
            case "enter":
                new, start = "\n    ", end
            case _:
                new, start = key, end
        places = types.Range(document.wire_position(start), document.wire_position(end))
        document.apply_change(types.TextDocumentContentChangePartial(places, new))
        document.version += 1
        answer = await completor.suggest(document.text.end)
        after = str(document.text) + answer.text
        assert (answer.version, answer.position) == (document.version, document.text.end)
        assert not answer.text or TARGET.startswith(after)
    await link.stop()


class Silent:
    """A `Reporter` that tells nobody."""

    def state(self, state: State) -> None: ...
    def lost(self, message: str) -> None: ...
    def trouble(self, message: str) -> None: ...
    def recovered(self, message: str) -> None: ...
