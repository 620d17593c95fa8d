"""Documents wherever they come from: remote, unsaved, oddly named, very long. What works for one works for all."""

from typing import Any

import pytest

from lsp.fake_engine import FakeEngine
from lsp.text import Text

URIS = [
    "file:///project/with%20space/app.py",
    "file:///project/with space/app.py",  # not encoded, as some clients send it
    "file:///project/%C3%BCber/%E6%BC%A2%E5%AD%97.py",
    "file:///project/über/漢字.py",
    "file:///c%3A/Users/me/app.py",
    "file:///project/a%23b%3Fc.py",
    "untitled:Untitled-1",
    "untitled:/project/new.py",
    "vscode-remote://ssh-remote%2Bbox/home/me/app.py",
    "vscode-userdata:/User/snippets/x.py",
    "inmemory://model/1",
    "zipfile:///project/a.zip::b.py",
    "",
]


@pytest.mark.parametrize("uri", URIS)
async def test_ask_type_through_accept_close(editor: Any, engine: FakeEngine, uri: str) -> None:
    engine.say = lambda _: "foo(bar)"
    editor.open("x = ", uri=uri)
    [item] = await editor.items(editor.ask(0, 4, uri=uri))
    assert item["insertText"] == "foo(bar)"
    editor.notify("textDocument/didShowCompletion", {"item": item})
    editor.insert(0, 4, "foo", uri=uri)
    assert await editor.ghost(0, 7, uri=uri) == "(bar)"
    editor.insert(0, 7, "(bar)", uri=uri)
    command = {"command": "foretype.accepted", "arguments": item["command"]["arguments"]}
    editor.send({"id": "c", "method": "workspace/executeCommand", "params": command})
    await editor.reply("c")
    editor.close_document(uri=uri)
    assert await editor.ghost(0, 0, uri=uri) is None
    assert editor.server.totals.figures()["accepted"] == 1
    assert len(engine.asked) == 1
    assert engine.closed_documents == [engine.asked[0].document]


async def test_one_document_under_two_spellings_of_its_uri(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1"
    editor.open("x = ", uri="file:///project/a%20b.py")
    assert await editor.ghost(0, 4, uri="file:///project/a b.py") == "1"


async def test_a_stale_item_is_never_the_answer(editor: Any, engine: FakeEngine) -> None:
    """Ghost `bar` behind `foo`; `b` is typed and accepted at once, then `x` instead of it."""
    engine.say = lambda context: "bar" if context.before == "foo" else ""
    editor.open("foo")
    assert await editor.ghost(0, 3) == "bar"
    editor.insert(0, 3, "b")
    [item] = await editor.items(editor.ask(0, 4))
    assert (item["insertText"], item["range"]["start"]["character"]) == ("ar", 4)  # `foobar` and not `foobbar`
    editor.change((0, 3), (0, 4), "x")
    assert await editor.ghost(0, 4) is None


async def test_a_key_in_a_long_file_touches_its_neighbourhood_alone(
    editor: Any, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64,000 lines against 16,000: no key has the whole text read, and what is read does not grow with it."""
    engine.say = lambda _: "1"
    read: list[int] = []
    slices = Text.slice

    def counted(text: Text, *ends: Any) -> str:
        found = slices(text, *ends)
        read.append(len(found))
        return found

    def whole(_: Text) -> str:
        raise AssertionError("the whole text was read")

    async def keys(lines: int, uri: str) -> int:
        editor.open("value = compute(1)\n" * lines, uri=uri)
        await editor.ghost(lines // 2, 0, uri=uri)
        with monkeypatch.context() as patched:
            patched.setattr(Text, "__str__", whole)
            patched.setattr(Text, "slice", counted)
            read.clear()
            for column in range(20):
                editor.insert(lines // 2, column, "x", uri=uri)
                await editor.items(editor.ask(lines // 2, column + 1, uri=uri, invoked=True))
        return sum(read)

    long, short = await keys(64_000, "file:///project/long.py"), await keys(16_000, "file:///project/short.py")
    assert long < 1.1 * short
