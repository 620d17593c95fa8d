"""Replies that grow, and requests that take over the work of the one before. Nothing shown is ever taken back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from completion_server.protocol import State, TokenScore
from lsp import runner
from lsp.fake_engine import FakeEngine

BODY = "a + b\n    print(total)\n    return total\n"
FUNCTION = "def add(a, b):\n    total = "


@pytest.fixture
async def stream(start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine) -> AsyncIterator[Any]:
    """An editor that takes growth, on an engine that holds its last word back."""
    editor = await start_editor(engine)
    await editor.initialize({"stream": True, "trace": True})
    await editor.connected()
    engine.say = lambda _: BODY
    engine.hold()
    yield editor
    engine.release()


async def asked(editor: Any, engine: FakeEngine, line: int, column: int, **how: Any) -> int:
    engine.arrived.clear()
    request = editor.ask(line, column, **how)
    async with asyncio.timeout(10):
        await engine.arrived.wait()
    return int(request)


def grown(editor: Any) -> list[tuple[str, bool]]:
    return [(note["text"], note["done"]) for note in editor.notes("foretype/grow")]


def outcomes(editor: Any) -> list[str]:
    return [trace["outcome"] for trace in editor.notes("foretype/trace")]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_first_line_comes_at_once_and_the_rest_grows(stream: Any, engine: FakeEngine) -> None:
    stream.open(FUNCTION, language="plaintext")
    request = await asked(stream, engine, 1, 12)
    engine.write("a + ")
    await settle()
    assert stream.replies(request) == []
    engine.write("b\n    pri")
    [item] = await stream.items(request)
    assert item["insertText"] == "a + b"
    own_id = item["command"]["arguments"][0]
    engine.write("nt(total)\n    return")
    engine.release()
    await stream.until(lambda: [note for note in grown(stream) if note[1]])
    assert grown(stream) == [("\n    print(total)", False), ("\n    return total", True)]
    assert {note["id"] for note in stream.notes("foretype/grow")} == {own_id}
    methods = [message.get("method", message.get("id")) for message in stream.sent]
    assert methods.index(request) < methods.index("foretype/grow")
    first, second = stream.notes("foretype/trace")
    assert (first["outcome"], second["outcome"]) == ("growing", "grown")
    assert first["request"] == second["request"] == request
    assert (first["asked_engine"], second["asked_engine"]) == (False, True)


async def test_a_client_that_did_not_opt_in_gets_one_whole_reply(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: BODY
    engine.hold()
    editor.open(FUNCTION, language="plaintext")
    request = await asked(editor, engine, 1, 12)
    engine.write("a + b\n    print(total)\n")
    await settle()
    assert editor.replies(request) == []
    engine.release()
    [item] = await editor.items(request)
    assert item["insertText"] == BODY.rstrip()
    assert grown(editor) == []


async def test_growth_goes_on_while_it_is_typed(stream: Any, engine: FakeEngine) -> None:
    stream.open(FUNCTION, language="plaintext")
    request = await asked(stream, engine, 1, 12)
    engine.write("a + b\n")
    await stream.reply(request)
    stream.insert(1, 12, "a +")
    stream.insert(1, 15, " b\n    ")
    engine.write("    print(total)\n")
    assert grown(stream) == [("\n    print(total)", False)]
    stream.change((1, 17), (2, 4), "")  # taken back, and typed again
    stream.insert(1, 17, "\n    print")
    engine.release()
    await stream.until(lambda: grown(stream)[-1][1])
    assert grown(stream) == [("\n    print(total)", False), ("\n    return total", True)]
    assert engine.cancelled == 0
    assert await stream.ghost(2, 9) == "(total)\n    return total"  # by now from the cache
    assert len(engine.asked) == 1


@pytest.mark.parametrize(
    "then",
    [
        lambda editor: editor.insert(1, 12, "x"),
        lambda editor: editor.insert(0, 0, "#"),
        lambda editor: editor.close_document(),
    ],
)
async def test_anything_else_ends_it_once(stream: Any, engine: FakeEngine, then: Callable[[Any], None]) -> None:
    stream.open(FUNCTION, language="plaintext")
    request = await asked(stream, engine, 1, 12)
    engine.write("a + b\n")
    await stream.reply(request)
    then(stream)
    await settle()
    engine.write("    print(total)\n")
    engine.release()
    await settle()
    assert grown(stream) == [("", True)]
    assert engine.cancelled == 1


async def test_a_request_while_it_grows_gets_all_that_stands_under_the_same_id(stream: Any, engine: FakeEngine) -> None:
    stream.open(FUNCTION, language="plaintext")
    request = await asked(stream, engine, 1, 12)
    engine.write("a + b\n")
    [first] = await stream.items(request)
    stream.insert(1, 12, "a ")
    engine.write("    print(total)\n")
    [second] = await stream.items(stream.ask(1, 14))
    assert second["insertText"] == "+ b\n    print(total)"
    assert second["command"] == first["command"]
    engine.release()
    await stream.until(lambda: grown(stream)[-1][1])
    assert grown(stream) == [("\n    print(total)", False), ("\n    return total", True)]
    assert len(engine.asked) == 1


async def test_a_whole_reply_while_it_grows_still_ends_the_growth(stream: Any, engine: FakeEngine) -> None:
    stream.open(FUNCTION, language="plaintext")
    request = await asked(stream, engine, 1, 12)
    engine.write("a + b\n    p")
    await stream.reply(request)
    stream.insert(1, 12, "a + b\n    ")
    second = stream.ask(2, 4)  # all that stands is typed: it waits
    await settle()
    assert stream.replies(second) == []
    engine.release()
    [item] = await stream.items(second)
    assert item["insertText"] == "print(total)\n    return total"
    await stream.until(lambda: grown(stream))
    assert grown(stream) == [("", True)]


async def test_a_request_that_disagrees_ends_the_growth(stream: Any, engine: FakeEngine) -> None:
    stream.open(FUNCTION, language="plaintext")
    request = await asked(stream, engine, 1, 12)
    engine.write("a + b\n")
    await stream.reply(request)
    stream.insert(1, 12, "1")
    engine.say = lambda _: "2"
    second = await asked(stream, engine, 1, 13)
    assert grown(stream) == [("", True)]
    engine.release()
    assert len(await stream.items(second)) == 1


async def test_words_come_where_the_first_line_takes_long(
    stream: Any, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    stream.open(FUNCTION, language="plaintext")
    request = await asked(stream, engine, 1, 12)
    await asyncio.sleep(0.001)  # the clock of the loop moves on
    engine.write("a + b")
    [item] = await stream.items(request)
    assert item["insertText"] == "a"
    engine.release()
    await stream.until(lambda: grown(stream))
    assert "a" + "".join(text for text, _ in grown(stream)) == BODY.rstrip()


@pytest.mark.parametrize(
    ("language", "before", "said", "after"),
    [
        ("python", "def f(a):\n    ", "if a:\n        return 1\n    return [\n        2,\n    ]\n", "\n"),
        ("python", "class A:\n\tdef f(self):\n\t\t", "x = 1\n        y = 2\n        return x\n", "\n"),
        ("javascript", "function f(a) {\n  ", "if (a) {\n    g();\n  }\n  return a;\n", "\n}\n"),
        ("go", "func f() {\n\t", "a := 1\n\tb := 2\n\treturn\n", "\n}\n"),
        ("plaintext", "", "zero\none\ntwo\nthree\n", "\none\nthree\n"),
        ("plaintext", "", "one\ntwo\nthree\nfour\n", "\nx\none\ntwo\n"),
    ],
)
async def test_head_and_growth_make_up_what_another_client_gets_at_once(
    stream: Any, engine: FakeEngine, language: str, before: str, said: str, after: str
) -> None:
    engine.say = lambda _: said
    lines = before.split("\n")
    stream.open(before + after, language=language)
    request = await asked(stream, engine, len(lines) - 1, len(lines[-1]))
    for char in said:
        engine.write(char)
        await settle()
    [item] = await stream.items(request)
    engine.release()
    await stream.until(lambda: grown(stream) and grown(stream)[-1][1])
    stream.open(before + after, uri="file:///project/b.py", language=language)
    stream.notify("workspace/didChangeConfiguration", {"settings": {"foretype": {}}})
    whole = await stream.ghost(len(lines) - 1, len(lines[-1]), uri="file:///project/b.py")
    assert item["insertText"] + "".join(text for text, _ in grown(stream)) == whole


async def test_an_unsure_head_is_not_shown(start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine) -> None:
    editor = await start_editor(engine)
    await editor.initialize({"stream": True, "trace": True, "min_confidence": 0.2})
    await editor.connected()
    engine.say, engine.scores = (lambda _: BODY), (TokenScore(5, -20.0), TokenScore(len(BODY), 0.0))
    engine.hold()
    editor.open(FUNCTION, language="plaintext")
    request = await asked(editor, engine, 1, 12)
    engine.write("a + b\n")
    await settle()
    assert editor.replies(request) == []
    engine.release()
    assert await editor.items(request) == []
    assert outcomes(editor) == ["unsure"]
    assert await editor.ghost(1, 12, invoked=True) is not None  # by hand it is shown
    assert await editor.ghost(1, 12) is not None  # and stays


# -- all clients: a fast typist ------------------------------------------------------------------------------------


async def test_a_running_request_goes_on_if_what_was_typed_agrees_with_it(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "createModel()"
    engine.hold()
    editor.open("x = ")
    first = await asked(editor, engine, 0, 4)
    engine.write("crea")
    editor.insert(0, 4, "c")
    second = editor.ask(0, 5)
    assert await editor.items(first) == []
    editor.insert(0, 5, "r")
    editor.cancel(second)  # as editors do, in front of the next request
    third = editor.ask(0, 6)
    engine.release()
    [item] = await editor.items(third)
    assert item["insertText"] == "eateModel()"
    assert (len(engine.asked), engine.cancelled) == (1, 0)
    assert outcomes(editor) == ["superseded", "cancelled", "engine"]


@pytest.mark.parametrize("typed", ["x", "creat"])  # something else; more than there is
async def test_it_gives_way_to_the_newer_one_otherwise(editor: Any, engine: FakeEngine, typed: str) -> None:
    engine.say = lambda _: "z"
    engine.hold()
    editor.open("x = ")
    first = await asked(editor, engine, 0, 4)
    engine.write("crea")
    editor.insert(0, 4, typed)
    second = await asked(editor, engine, 0, 4 + len(typed))
    engine.release()
    assert await editor.items(first) == []
    assert len(await editor.items(second)) == 1
    assert (len(engine.asked), engine.cancelled) == (2, 1)


async def test_cancelled_work_lingers_for_the_next_key_and_not_for_ever(
    editor: Any, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "LINGER", 0.0)
    engine.say = lambda _: "createModel()"
    engine.hold()
    editor.open("x = ")
    first = await asked(editor, engine, 0, 4)
    engine.write("crea")
    editor.cancel(first)
    await editor.reply(first)
    async with asyncio.timeout(10):
        while not engine.cancelled:  # noqa: ASYNC110 - the fake engine has nobody to tell
            await asyncio.sleep(0)
    assert len(engine.asked) == 1


async def test_a_request_by_hand_asks_anew_for_alternatives(editor: Any, engine: FakeEngine) -> None:
    engine.say, engine.others = (lambda _: "one"), ("two", "one", "three")
    engine.hold()
    editor.open("x = ")
    first = await asked(editor, engine, 0, 4)
    by_hand = await asked(editor, engine, 0, 4, invoked=True)
    engine.release()
    assert await editor.items(first) == []
    items = await editor.items(by_hand)
    assert [item["insertText"] for item in items] == ["one", "two"]  # distinct; the engine was asked for two others
    assert engine.alternatives == [1, 3]
    assert len({item["command"]["arguments"][0] for item in items}) == 2


async def test_what_is_shown_stays_the_first_of_the_alternatives(editor: Any, engine: FakeEngine) -> None:
    engine.say, engine.others = (lambda _: "one"), ("two",)
    editor.open("x = ")
    [shown] = await editor.items(editor.ask(0, 4))
    engine.say = lambda _: "three"
    items = await editor.items(editor.ask(0, 4, invoked=True))
    assert [item["insertText"] for item in items] == ["one", "three", "two"]
    assert items[0]["command"] == shown["command"]
    asked_before = len(engine.asked)
    assert len(await editor.items(editor.ask(0, 4, invoked=True))) == 3  # again: they are there already
    assert len(engine.asked) == asked_before
    editor.notify("textDocument/didShowCompletion", {"item": items[2]})
    editor.insert(0, 4, "t")
    assert await editor.ghost(0, 5) == "wo"  # the one that the person looks at, though "three" fits too


async def test_by_hand_without_an_engine_what_is_kept_is_better_than_nothing(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "one"
    editor.open("x = ")
    await editor.ghost(0, 4)
    engine.become(State("failed", "fake", "broken"))
    assert await editor.ghost(0, 4, invoked=True) == "one"


async def test_an_unforeseen_failure_fails_the_request_and_ends_its_growth(
    stream: Any, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("hunter2")

    stream.open(FUNCTION, language="plaintext")
    request = await asked(stream, engine, 1, 12)
    engine.write("a + b\n")
    await stream.reply(request)
    monkeypatch.setattr(runner.Runner, "_deliver", broken)
    engine.release()
    await stream.until(lambda: grown(stream))
    assert grown(stream) == [("", True)]
    stream.insert(1, 12, "1")
    reply = await stream.reply(stream.ask(1, 13))
    assert reply["error"]["code"] == -32603
    assert "hunter2" not in str(stream.sent)
