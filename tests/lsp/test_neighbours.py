"""What a request says of other open files, through the whole language server."""

from typing import Any

import pytest

from lsp.fake_engine import FakeEngine

SHAPES = "file:///project/lib/shapes.py"
CODE = "def area(circle):\n    return circle.radius ** 2\n"
HERE = "circle = Circle(radius)\narea = \n"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----\n"


async def snippets(editor: Any, engine: FakeEngine, line: int = 1, character: int = 7) -> list[tuple[str, str]]:
    await editor.ghost(line, character)
    return [(snippet.path, snippet.text) for snippet in engine.asked[-1].snippets]


async def test_pieces_of_open_files_go_along(editor: Any, engine: FakeEngine) -> None:
    editor.open(CODE, uri=SHAPES)
    editor.open(HERE)
    assert await snippets(editor, engine) == [("lib/shapes.py", CODE.strip("\n"))]


async def test_the_same_while_somebody_types(editor: Any, engine: FakeEngine) -> None:
    editor.open(CODE, uri=SHAPES)
    editor.open(HERE)
    first = await snippets(editor, engine)
    editor.insert(1, 7, "circle")
    assert await snippets(editor, engine, 1, 13) == first


@pytest.mark.parametrize("options", [{"snippets": False}, {"exclude": ["lib/**"]}])
async def test_not_if_settings_say_so(editor: Any, engine: FakeEngine, options: dict[str, Any]) -> None:
    editor.notify("workspace/didChangeConfiguration", {"settings": {"foretype": options}})
    editor.open(CODE, uri=SHAPES)
    editor.open(HERE)
    assert await snippets(editor, engine) == []


async def test_never_of_a_secret(editor: Any, engine: FakeEngine) -> None:
    editor.open(CODE, uri="file:///project/.env")
    editor.open(f"{CODE}{KEY}", uri="file:///project/keys.py")
    editor.open(CODE, uri=SHAPES)
    editor.open(HERE)
    assert [path for path, _ in await snippets(editor, engine)] == ["lib/shapes.py"]
    editor.insert(0, 0, KEY, uri=SHAPES)
    await editor.ghost(1, 6)
    assert engine.asked[-1].snippets == ()


async def test_of_a_closed_file_no_more_than_there_was(editor: Any, engine: FakeEngine) -> None:
    editor.open(CODE, uri=SHAPES)
    editor.close_document(SHAPES)
    editor.open(HERE)
    assert await snippets(editor, engine) == []
