"""At the keyboard of the real VS Code: what is painted, what keys do, what leaves for the server.

One editor for all tests, each with a file of its own. `FORETYPE_PICTURES=FOLDER` keeps pictures.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio

from bench.lsp_record import most_live, read
from bench.vscode_editor import STATUS, RealVSCode
from bench.vscode_install import Installed
from bench.vscode_soak import type_steadily, write_long_file

pytestmark = [
    pytest.mark.editor,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not os.environ.get("FORETYPE_E2E"), reason="at the keyboard of VS Code: `make e2e` runs it"),
]
PICTURES = os.environ.get("FORETYPE_PICTURES")  # read before the tests' own folders hide it
KEY = 60.0  # ms between two keys
REQUEST = "textDocument/inlineCompletion"
NUMBERS = count(1)


class Desk:
    """A workplace and the editor that is open on it."""

    def __init__(self, place, editor: RealVSCode) -> None:
        self.place = place
        self.editor = editor

    async def new_file(self) -> None:
        await self.editor.open_file(f"file{next(NUMBERS)}.py")

    async def picture(self, name: str) -> None:
        if PICTURES:
            await asyncio.sleep(0.5)  # what fades in is there
            await self.editor.do("picture", path=str(Path(PICTURES) / f"{name}.png"))

    def asked(self) -> int:
        return len(self.place.said(REQUEST))

    async def line(self, number: int = 0) -> str:
        return (await self.editor.lines())[number]

    async def events_after(self, before: int, count: int) -> list[str]:
        """The events since there were `before`, once there are `count` more."""
        async with asyncio.timeout(10):
            while True:
                events = self.place.events()[before:]
                if len(events) >= count:
                    return events
                await asyncio.sleep(0.03)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(installed: Installed, make_workplace) -> AsyncIterator[Desk]:
    with tempfile.TemporaryDirectory(prefix="foretype-") as base:
        place = make_workplace(Path(base), installed)
        for number in range(1, 20):  # beforehand: the editor looks for new files only now and then
            (place.folder / f"file{number}.py").touch()
        write_long_file(place.folder / "long.py")
        place.start_engine()
        try:
            async with place.editor(**{"editor.quickSuggestions": False}) as editor:
                await editor.wait_status("is ready")
                await editor.press("Control+B")  # the side bar says nothing
                yield Desk(place, editor)
        finally:
            place.stop_engine()


async def test_ghost_text_comes_with_typing_and_is_taken_whole(desk: Desk) -> None:
    await desk.new_file()
    await desk.editor.type("def add", delay=KEY)
    await desk.editor.wait_ghost("(a, b):\n    return a + b")
    await desk.picture("ghost")
    await desk.editor.press("Tab")
    await desk.editor.type("!")  # the cursor is at its end
    assert await desk.editor.lines() == ["def add(a, b):", "    return a + b!"]
    await desk.editor.press("Control+Z", "Control+Z")
    assert await desk.line() == "def add" or (await desk.line()).startswith("def add(a, b):")
    await desk.editor.press("Escape")
    assert await desk.editor.lines() == ["def add"]


async def test_typing_through_and_backspace_ask_nobody(desk: Desk) -> None:
    await desk.new_file()
    await desk.editor.type("model = ", delay=KEY)
    whole = "createModelServices()"
    await desk.editor.wait_ghost(whole)
    asked = desk.asked()
    for typed, key in enumerate("createM", start=1):
        await desk.editor.press(key)
        assert await desk.editor.ghost() in (whole[typed - 1 :], whole[typed:])  # never without it
        await desk.editor.wait_ghost(whole[typed:], seconds=2)
    await desk.editor.press("Backspace")
    await desk.editor.wait_ghost("ModelServices()", seconds=2)
    await asyncio.sleep(0.3)
    assert desk.asked() == asked


async def test_a_stale_suggestion_is_not_taken(desk: Desk) -> None:
    await desk.new_file()
    await desk.editor.type("total = ", delay=KEY)
    await desk.editor.wait_ghost("sum(values)")
    await desk.editor.type("s")
    await desk.editor.press("Tab")
    assert await desk.line() == "total = sum(values)"
    await desk.new_file()
    await desk.editor.type("total = ", delay=KEY)
    await desk.editor.wait_ghost("sum(values)")
    await desk.editor.type("x")
    await desk.editor.press("Tab")
    assert (await desk.line()).rstrip() == "total = x"


async def test_words_are_taken_one_by_one(desk: Desk) -> None:
    await desk.new_file()
    await desk.editor.type("def add", delay=KEY)
    await desk.editor.wait_ghost("(a, b):\n    return a + b")
    asked, events = desk.asked(), len(desk.place.events())
    ghosts = []
    for _ in range(5):
        await desk.editor.press("Control+ArrowRight")
        await asyncio.sleep(0.2)
        ghosts.append(await desk.editor.ghost())
    await desk.picture("word")
    said = await desk.events_after(events, 5)
    assert all(event.startswith("partly ") for event in said), said
    lengths = [int(event.removeprefix("partly ")) for event in said]
    whole = "(a, b):\n    return a + b"
    assert [whole[length:].lstrip() for length in lengths] == [ghost.lstrip() for ghost in ghosts]
    assert lengths == sorted(set(lengths))
    assert lengths[-1] > whole.index("\n")
    assert desk.asked() == asked


async def test_alternatives(desk: Desk) -> None:
    await desk.new_file()
    await desk.editor.type("total = ", delay=KEY)
    await desk.editor.wait_ghost("sum(values)")
    await desk.editor.press("Alt+BracketRight")
    await desk.editor.wait_ghost("max(values)")
    await desk.picture("alternative")
    await desk.editor.press("Alt+BracketLeft")
    await desk.editor.wait_ghost("sum(values)")


async def test_what_became_of_suggestions_is_told(desk: Desk) -> None:
    await desk.new_file()
    start = len(desk.place.events())
    await desk.editor.type("total = ", delay=KEY)
    await desk.editor.wait_ghost("sum(values)")
    await desk.editor.press("Tab")  # one taken
    assert await desk.events_after(start, 2) == ["shown", "accepted"]
    start += 2
    await desk.editor.type("\ntotal = ", delay=KEY)
    await desk.editor.wait_ghost("sum(values)")
    for key in "sum(values":  # one typed out; the editor has put the last bracket there
        await desk.editor.press(key)
        await asyncio.sleep(0.03)
    await desk.editor.press("End", "Enter")
    said = await desk.events_after(start, 2)
    assert said[:2] == ["shown", "typedThrough 11"] or said[:2] == ["shown", "typedThrough 10"], said
    await desk.editor.type("model = ", delay=KEY)
    await desk.editor.wait_ghost("createModelServices()")
    start = len(desk.place.events())
    await desk.editor.press("Escape")  # one sent away
    assert await desk.events_after(start, 1) == ["dismissed"]
    await desk.editor.wait_ghost("", seconds=2)


async def test_a_slow_engine_is_asked_rarely_and_still_seen(desk: Desk) -> None:
    desk.place.stop_engine()
    desk.place.start_engine({"rules": [{"match": "= ", "text": "abcdefghijklmnopqrstuvwxyz\n", "delay_ms": 500}]})
    await desk.editor.wait_status("is ready")
    await desk.new_file()
    await desk.editor.type("q = ", delay=KEY)
    await desk.editor.wait_ghost("abcdefghijklmnopqrstuvwxyz")  # the client has seen how slow it is
    asked = desk.asked()
    await desk.editor.type("\nz = abcdefghijkl", delay=100)
    await desk.editor.wait_ghost("mnopqrstuvwxyz")
    assert desk.asked() - asked <= 7  # of 17 keys; those before the blank are answered at once
    desk.place.stop_engine()
    desk.place.start_engine()


async def test_steady_typing_in_a_long_file(desk: Desk) -> None:
    found = await type_steadily(desk.editor, desk.place.folder / "long.py", seconds=12)
    assert found.missed == 0
    assert most_live(read(desk.place.record), REQUEST) == 1


async def test_an_engine_that_dies_is_named_at_once_and_works_again(desk: Desk) -> None:
    await desk.editor.wait_status("is ready")
    await desk.new_file()
    await desk.editor.type("slow = ", delay=20)
    asked = desk.asked()
    await desk.place.until_said(REQUEST, asked)
    desk.place.stop_engine()
    died = time.monotonic()
    await desk.editor.wait_status("No engine")
    assert time.monotonic() - died < 5  # about one second on a quiet machine
    await desk.editor.type("total = total = ", delay=KEY)
    messages = await desk.editor.do("text", selector=".notification-toast .notification-list-item-message")
    assert len(messages) <= 1
    await desk.picture("engine-missing")
    await desk.editor.press("Escape")
    desk.place.start_engine({"rules": [{"match": "total = ", "text": "sum(values)\n"}], "load_ms": 2_500})
    await desk.editor.wait_status("Loading")
    await desk.picture("loading")
    await desk.editor.wait_status("is ready")
    await desk.editor.type("\ntotal = ", delay=KEY)
    await desk.editor.wait_ghost("sum(values)")


async def test_the_menu_and_the_health_check(desk: Desk) -> None:
    await desk.new_file()
    await desk.editor.do("click", selector=f"{STATUS} a")
    await desk.editor.wait(
        "label", lambda rows: "Stop Engine" in str(rows), selector=".quick-input-widget .monaco-list-row"
    )
    await desk.picture("menu")
    await desk.editor.press("Escape")
    await desk.editor.command("Foretype: Check Health")
    await desk.editor.wait("text", lambda tabs: "health" in str(tabs).lower(), selector=".tab.active")
    await desk.editor.wait("text", lambda lines: "Everything" in str(lines), selector=".view-line")
    await desk.picture("health")
