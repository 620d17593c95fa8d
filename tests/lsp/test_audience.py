"""What a client tells of its suggestions, counted on the whole server. The counters are written down first."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from completion_server.protocol import Context
from lsp.audience import Audience
from lsp.events import Event
from lsp.fake_engine import FakeEngine


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Heard:
    """A `Listener` that remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def happened(self, event: Event) -> None:
        self.events.append(event)

    def kinds(self) -> list[tuple[str, int]]:
        return [(event.kind, event.characters) for event in self.events]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def heard(editor: Any, clock: Clock) -> Heard:
    """Listens beside the totals; time is `clock`'s."""
    heard = Heard()
    server = editor.server
    server.audience._listeners = (server.totals, heard)
    server.audience._clock = clock
    return heard


def show(editor: Any, item: dict[str, Any]) -> None:
    editor.notify("textDocument/didShowCompletion", {"item": item})


def take_part(editor: Any, item: dict[str, Any], length: int) -> None:
    editor.notify("textDocument/didPartiallyAcceptCompletion", {"item": item, "acceptedLength": length})


def tell(editor: Any, item: dict[str, Any], event: str, **more: Any) -> None:
    editor.notify("foretype/event", {"id": item["command"]["arguments"][0], "event": event, **more})


async def run(editor: Any, command: str, *arguments: Any) -> Any:
    request = f"{command}-{len(editor.sent)}"
    params = {"command": command, "arguments": list(arguments)}
    editor.send({"id": request, "method": "workspace/executeCommand", "params": params})
    return (await editor.reply(request))["result"]


async def accept(editor: Any, item: dict[str, Any]) -> None:
    assert await run(editor, item["command"]["command"], *item["command"]["arguments"]) is None


async def item_at(editor: Any, line: int, column: int) -> dict[str, Any]:
    [item] = await editor.items(editor.ask(line, column))
    return dict(item)


def lines(context: Context) -> str:
    """A suggestion of its own for each line."""
    number = context.before.count("\n")
    said = ["first(1)", "second()", "third + half", "gone", "stays"][number]
    written = context.before.rpartition("\n")[2].removeprefix("x = ")
    return said[len(written) :] if said.startswith(written) else ""


EXPECTED = {
    "shown": 4,  # three that were used, one that replaced what was seen for 100 ms
    "shown_characters": 8 + 8 + 12 + 5,
    "accepted": 1,
    "accepted_characters": 8,
    "partially_accepted": 1,
    "partially_accepted_characters": 7,  # `third +`
    "typed_through": 1,
    "typed_through_characters": 8,
    "dismissed": 0,
    "replaced": 0,  # nobody saw it
}


async def test_seq_metrics(editor: Any, engine: FakeEngine, heard: Heard, clock: Clock) -> None:
    engine.say = lines
    editor.open("x = \nx = \nx = \nx = \nx = ", language="plaintext")

    one = await item_at(editor, 0, 4)
    show(editor, one)
    clock.now += 1
    editor.insert(0, 4, one["insertText"])
    await accept(editor, one)
    await accept(editor, one)  # told twice

    two = await item_at(editor, 1, 4)
    show(editor, two)
    clock.now += 1
    editor.insert(1, 4, "sec")
    again = await item_at(editor, 1, 7)  # the first from the cache
    assert (again["insertText"], again["command"]) == ("ond()", two["command"])
    show(editor, again)
    editor.insert(1, 7, "ond()")
    tell(editor, two, "typedThrough", length=3)
    tell(editor, two, "typedThrough", length=8)

    three = await item_at(editor, 2, 4)
    show(editor, three)
    clock.now += 1
    editor.insert(2, 4, "third")
    take_part(editor, three, 5)
    editor.insert(2, 9, " +")
    take_part(editor, three, 7)
    rest = await item_at(editor, 2, 11)  # the second from the cache
    assert (rest["insertText"], rest["command"]) == (" half", three["command"])
    show(editor, rest)
    tell(editor, three, "dismissed")

    gone = await item_at(editor, 3, 4)
    show(editor, gone)
    clock.now += 0.1
    stays = await item_at(editor, 4, 4)
    show(editor, stays)
    clock.now += 1

    status = await run(editor, "foretype.status")
    assert {name: status["today"][name] for name in EXPECTED} == EXPECTED
    assert status["acceptance_today"] == 0.25
    assert len(engine.asked) == 5

    clock.now += 120
    editor.server.audience.settle()
    later = ("looked", "kept")
    kept = [(event.id, event.kind, event.characters) for event in heard.events if event.kind.startswith(later)]
    first, third = (item["command"]["arguments"][0] for item in (one, three))
    assert kept == [
        (first, "looked-30s", 8),
        (first, "kept-30s", 8),
        (first, "looked-2min", 8),
        (first, "kept-2min", 8),
        (third, "looked-30s", 7),
        (third, "kept-30s", 7),
        (third, "looked-2min", 7),
        (third, "kept-2min", 7),
    ]


async def test_what_was_accepted_and_then_changed_is_kept_in_part(
    editor: Any, engine: FakeEngine, heard: Heard, clock: Clock
) -> None:
    engine.say = lambda _: "foo(bar)"
    editor.open("x = ")
    item = await item_at(editor, 0, 4)
    editor.insert(0, 4, "foo(bar)")
    await accept(editor, item)
    editor.change((0, 8), (0, 12), "")
    clock.now += 30
    editor.server.audience.settle()
    assert heard.kinds() == [("shown", 8), ("accepted", 8), ("looked-30s", 8), ("kept-30s", 4)]


async def test_an_editor_that_leaves_ends_what_was_in_hand(
    editor: Any, engine: FakeEngine, heard: Heard, clock: Clock
) -> None:
    engine.say = lambda _: "foo(bar)"
    editor.open("x = ")
    item = await item_at(editor, 0, 4)
    show(editor, item)
    clock.now += 1
    editor.insert(0, 4, "foo")
    take_part(editor, item, 3)
    editor.send({"id": "bye", "method": "shutdown"})
    await editor.reply("bye")
    assert heard.kinds() == [("shown", 8), ("partly-accepted", 3)]


async def test_a_timer_looks_after_a_while(
    editor: Any, engine: FakeEngine, heard: Heard, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp.persistence.AGES", ((0.0, "30s"),))
    engine.say = lambda _: "foo"
    editor.open("x = ")
    item = await item_at(editor, 0, 4)
    editor.insert(0, 4, "foo")
    await accept(editor, item)
    async with asyncio.timeout(10):
        while ("kept-30s", 3) not in heard.kinds():  # noqa: ASYNC110 - a timer of the loop
            await asyncio.sleep(0)


async def test_growth_counts(start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine) -> None:
    editor = await start_editor(engine)
    await editor.initialize({"stream": True})
    await editor.connected()
    engine.say = lambda _: "a\nb\n"
    engine.hold()
    editor.open("", language="plaintext")
    request = editor.ask(0, 0)
    async with asyncio.timeout(10):
        await engine.arrived.wait()
    engine.write("a\n")
    [item] = await editor.items(request)
    engine.release()
    await editor.until(lambda: editor.notes("foretype/grow"))
    editor.insert(0, 0, "a\nb")
    await accept(editor, item)
    assert editor.server.totals.figures()["accepted_characters"] == 3


async def test_lengths_are_utf16_code_units(editor: Any, engine: FakeEngine, heard: Heard) -> None:
    engine.say = lambda _: '"😀é" + x'
    editor.open("x = ", language="plaintext")
    item = await item_at(editor, 0, 4)
    editor.insert(0, 4, '"😀é"')
    take_part(editor, item, 5)
    editor.close_document()
    assert heard.kinds() == [("shown", 8), ("partly-accepted", 4)]


async def test_events_can_be_switched_off(editor: Any, engine: FakeEngine, heard: Heard) -> None:
    engine.say = lambda _: "1"
    editor.notify("workspace/didChangeConfiguration", {"settings": {"foretype": {"events": False}}})
    editor.open("x = ")
    item = await item_at(editor, 0, 4)
    show(editor, item)
    await accept(editor, item)
    assert heard.events == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/didShowCompletion", None),
        ("textDocument/didShowCompletion", {"item": {}}),
        ("textDocument/didShowCompletion", {"item": {"command": {"arguments": [{"x": 1}]}}}),
        ("textDocument/didPartiallyAcceptCompletion", {"item": {"insertText": "x"}, "acceptedLength": "x"}),
        ("foretype/event", {"id": 5, "event": "dismissed"}),
        ("foretype/event", {"id": "s99", "event": "exploded"}),
        ("foretype/event", [1]),
    ],
)
async def test_nonsense_is_ignored(
    editor: Any, engine: FakeEngine, heard: Heard, method: str, params: Any, caplog: pytest.LogCaptureFixture
) -> None:
    engine.say = lambda _: "1"
    editor.notify(method, params)
    assert await run(editor, "foretype.accepted", "s99", 5) is None
    editor.open("x = ")
    assert await editor.ghost(0, 4) == "1"
    assert heard.events == []
    assert caplog.records == []


async def test_old_suggestions_are_forgotten(editor: Any, engine: FakeEngine, heard: Heard) -> None:
    engine.say = lambda _: "1"
    audience: Audience = editor.server.audience
    editor.open("x = ")
    item = await item_at(editor, 0, 4)
    for number in range(256):
        editor.change((0, 0), (0, 0), "#")
        await item_at(editor, 0, 5 + number)
    await accept(editor, item)
    assert heard.events == []
    assert len(audience._offers) == 256
