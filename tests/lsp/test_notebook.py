"""All cells of a notebook are one context, in their order."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.protocol import MAX_AFTER, MAX_BEFORE
from lsp.document import Document
from lsp.fake_engine import FakeEngine
from lsp.notebook import CellWindow, below
from lsp.workspace import Cell

BOOK = "file:///project/plot.ipynb"


def cell(text: str, *, prose: bool = False, language: str = "python", key: str = "") -> Cell:
    return Cell(Document(key or text, "cell:", text, 1, "markdown" if prose else language), prose)


HERE = cell("here").document


def above(*cells: Cell) -> str:
    return CellWindow().above(cells, HERE, 0)


class TestText:
    def test_a_blank_line_between_cells(self) -> None:
        assert above(cell("a = 1\n"), cell("b = 2")) == "a = 1\n\nb = 2\n\n"
        assert below([cell("c = 3"), cell("d = 4\n\n")], HERE) == "\n\nc = 3\n\nd = 4"
        assert (above(), below([], HERE)) == ("", "")

    def test_prose_is_comments(self) -> None:
        assert above(cell("# Load\n\nthe data", prose=True)) == "# # Load\n#\n# the data\n\n"

    def test_in_the_notebook_s_language(self) -> None:
        here = cell("x", language="javascript").document
        assert below([cell("Load", prose=True)], here) == "\n\n// Load"

    def test_beside_prose_everything_stays_as_it_is(self) -> None:
        here = cell("Here", prose=True).document
        assert below([cell("Load", prose=True), cell("x = 1")], here) == "\n\nLoad\n\nx = 1"

    def test_line_ends_are_those_that_models_know(self) -> None:
        assert above(cell("a\r\nb\r\n")) == "a\nb\n\n"

    def test_what_is_below_is_bounded(self) -> None:
        assert len(below([cell("x" * 10_000), cell("y" * 10_000)], HERE)) == MAX_AFTER


class TestWindow:
    def test_it_grows_to_the_limit_and_goes_back_to_the_budget(self) -> None:
        window = CellWindow(budget=60, limit=90)
        cells = [cell("x" * 8, key=str(n)) for n in range(20)]  # ten code points each, with the blank line
        lengths = [len(window.above(cells[:n], HERE, 0)) for n in range(16)]
        assert lengths == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 60, 70, 80, 90, 60, 70]

    def test_an_edit_in_a_cell_does_not_move_it(self) -> None:
        window = CellWindow(budget=60, limit=90)
        cells = [cell("x" * 8, key=str(n)) for n in range(10)]
        first = window.above(cells, HERE, 0)
        cells[7].document.text.replace_all("y" * 12)
        assert window.above(cells, HERE, 0) == first.replace("x" * 8, "y" * 12, 4).replace("y" * 12, "x" * 8, 3)

    def test_it_begins_earlier_where_little_is_left(self) -> None:
        window = CellWindow(budget=60, limit=90)
        cells = [cell("x" * 8, key=str(n)) for n in range(10)]
        assert len(window.above(cells, HERE, 0)) == 60
        for emptied in cells[5:]:
            emptied.document.text.replace_all("")
        assert window.above(cells, HERE, 0) == ("x" * 8 + "\n\n") * 5 + "\n\n" * 5

    def test_a_cell_in_front_of_it_does_not_either(self) -> None:
        window = CellWindow(budget=60, limit=90)
        cells = [cell("x" * 8, key=str(n)) for n in range(10)]
        first = window.above(cells, HERE, 0)
        assert window.above([cell("new"), *cells[2:]], HERE, 0) == first

    @given(st.lists(st.integers(0, 120), max_size=30), st.integers(0, 100))
    def test_it_is_never_too_long(self, sizes: list[int], column: int) -> None:
        window = CellWindow(budget=60, limit=90)
        cells = [cell("x" * size, key=str(n)) for n, size in enumerate(sizes)]
        whole = "".join("x" * size + "\n\n" for size in sizes)
        for count in range(len(cells) + 1):
            text = window.above(cells[:count], HERE, column)
            assert len(text) + column <= 90 or not text
            assert whole[: sum(sizes[:count]) + 2 * count].endswith(text)


def item(uri: str, text: str, language: str = "python") -> dict[str, Any]:
    return {"uri": uri, "languageId": language, "version": 1, "text": text}


class Notebook:
    """An open notebook; its cells have URIs `vscode-notebook-cell:/project/plot.ipynb#0` and so on."""

    def __init__(self, editor: Any, *cells: tuple[str, str], uri: str = BOOK) -> None:
        self.editor, self.uri = editor, uri
        self.cells = [f"vscode-notebook-cell:/project/plot.ipynb#{n}" for n in range(len(cells))]
        kinds = [1 if language == "markdown" else 2 for language, _ in cells]
        editor.notify(
            "notebookDocument/didOpen",
            {
                "notebookDocument": {
                    "uri": uri,
                    "notebookType": "jupyter-notebook",
                    "version": 1,
                    "cells": [{"kind": k, "document": u} for k, u in zip(kinds, self.cells, strict=True)],
                },
                "cellTextDocuments": [
                    item(u, text, language) for u, (language, text) in zip(self.cells, cells, strict=True)
                ],
            },
        )

    def change(self, **cells: Any) -> None:
        self.editor.notify(
            "notebookDocument/didChange",
            {"notebookDocument": {"uri": self.uri, "version": 2}, "change": {"cells": cells}},
        )

    def write(self, number: int, text: str) -> None:
        document = {"uri": self.cells[number], "version": 2}
        self.change(textContent=[{"document": document, "changes": [{"text": text}]}])


@pytest.fixture
async def editor(start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine) -> Any:
    editor = await start_editor(engine)
    result = await editor.initialize(notebookDocument={"synchronization": {}})
    assert result["capabilities"]["notebookDocumentSync"] == {"notebookSelector": [{"notebook": "*"}]}
    await editor.connected()
    return editor


async def test_cells_are_one_context(editor: Any, engine: FakeEngine) -> None:
    book = Notebook(
        editor, ("python", "a = 1"), ("markdown", "Then"), ("python", "b = \nc = 3"), ("sql", "select"), ("python", "d")
    )
    await editor.ghost(0, 4, uri=book.cells[2])
    [context] = engine.asked
    assert (context.before, context.after) == ("a = 1\n\n# Then\n\nb = ", "\nc = 3\n\nd")
    assert context.path == "plot.ipynb"


async def test_edits_and_new_cells_are_seen(editor: Any, engine: FakeEngine) -> None:
    book = Notebook(editor, ("python", "a = 1"), ("python", "b = "))
    book.write(0, "a = 2")
    book.cells.append("vscode-notebook-cell:/project/plot.ipynb#new")
    array = {"start": 1, "deleteCount": 0, "cells": [{"kind": 2, "document": book.cells[2]}]}
    book.change(structure={"array": array, "didOpen": [item(book.cells[2], "new = 1")], "didClose": []})
    await editor.ghost(0, 4, uri=book.cells[1])
    assert engine.asked[-1].before == "a = 2\n\nnew = 1\n\nb = "
    array = {"start": 0, "deleteCount": 1, "cells": []}
    book.change(structure={"array": array, "didOpen": [], "didClose": [{"uri": book.cells[0]}]})
    await editor.ghost(0, 3, uri=book.cells[1])
    assert engine.asked[-1].before == "new = 1\n\nb ="


async def test_a_cell_that_holds_a_key_is_left_out(editor: Any, engine: FakeEngine) -> None:
    key = "key = '''\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----\n'''"
    book = Notebook(editor, ("python", "a = 1"), ("python", key), ("python", "b = "))
    await editor.ghost(0, 4, uri=book.cells[2])
    assert engine.asked[-1].before == "a = 1\n\nb = "


async def test_cells_of_a_secret_notebook_are_secrets(editor: Any, engine: FakeEngine) -> None:
    book = Notebook(editor, ("python", "a = "), uri="file:///project/.ssh/plot.ipynb")
    assert await editor.ghost(0, 4, uri=book.cells[0]) is None
    assert engine.asked == []


async def test_changes_of_a_notebook_that_is_not_open_are_ignored(editor: Any, engine: FakeEngine) -> None:
    book = Notebook(editor, ("python", "a = "))
    book.uri = "file:///project/other.ipynb"
    book.write(0, "b = ")
    await editor.ghost(0, 4, uri=book.cells[0])
    assert engine.asked[-1].before == "a = "


@pytest.mark.parametrize("text", [None, 5, ["x"]])
async def test_a_text_that_is_none_is_left_out(editor: Any, engine: FakeEngine, text: Any) -> None:
    book = Notebook(editor, ("python", "a = 1"), ("python", "b = "))
    book.write(0, text)
    array = {"start": 0, "deleteCount": 0, "cells": [{"kind": 2, "document": "cell:new"}]}
    book.change(structure={"array": array, "didOpen": [item("cell:new", text)]})
    for nonsense in ([], {"textContent": [5]}, {"textContent": 5}, {"structure": [5]}):
        editor.notify(
            "notebookDocument/didChange",
            {"notebookDocument": {"uri": BOOK, "version": 2}, "change": {"cells": nonsense}},
        )
    Notebook(editor, ("python", text), uri="file:///project/other.ipynb")
    await editor.ghost(0, 4, uri=book.cells[1])
    assert engine.asked[-1].before == "a = 1\n\nb = "


def test_the_budget_leaves_room_for_the_cell_itself() -> None:
    cells = [cell("x" * 30_000, key=str(n)) for n in range(8)]
    assert len(CellWindow().above(cells, HERE, 20_000)) + 20_000 <= MAX_BEFORE
