"""Pieces of other files: near ones, few, never secret, and the same ones while somebody works in a file."""

from dataclasses import dataclass

import pytest

from completion_server.protocol import MAX_SNIPPET
from lsp.document import Document
from lsp.snippets import COUNT, DOCUMENTS, FAR, NEAR_LINES, PIECE_LINES, Snippets
from lsp.text import Position

SHAPES = "def area(circle):\n    return circle.radius ** 2\n"
COOKING = "def bake(bread):\n    oven.heat(bread.dough)\n"
TOP = Position(0, 0)


@dataclass
class Open:
    """An open file."""

    path: str
    text: str
    language: str = "python"
    excluded: bool = False
    last_cursor: Position | None = None
    scheme: str = "file"

    def __post_init__(self) -> None:
        self.document = Document(self.path, f"{self.scheme}:///{self.path}", self.text, 1, self.language)

    def type(self, text: str, at: Position = TOP) -> None:
        edit = self.document.text.replace(at, at, text)
        self.document.version += 1
        self.last_cursor = edit.new_end


class Desk:
    """Open files, and what is sent for one of them."""

    def __init__(self, *files: Open) -> None:
        self.files = list(files)
        self.snippets = Snippets(lambda: self.files)

    def texts(self, file: Open, cursor: Position = TOP) -> list[str]:
        return [snippet.text for snippet in self.snippets.for_document(file.document, cursor)]

    def paths(self, file: Open, cursor: Position = TOP) -> list[str]:
        return [snippet.path for snippet in self.snippets.for_document(file.document, cursor)]


def main(words: str = "circle radius area oven bread dough") -> Open:
    return Open("main.py", f"{words}\n")


def test_the_nearest_come_first() -> None:
    desk = Desk(main("oven bread dough heat"), Open("shapes.py", SHAPES), Open("cooking.py", COOKING))
    assert desk.paths(desk.files[0]) == ["cooking.py"]
    desk = Desk(main("oven bread dough heat def area return"), Open("shapes.py", SHAPES), Open("cooking.py", COOKING))
    assert desk.paths(desk.files[0]) == ["cooking.py", "shapes.py"]


def test_of_a_long_file_the_nearest_piece() -> None:
    long = "x = other\n" * 200 + SHAPES + "x = other\n" * 200
    desk = Desk(main(), Open("long.py", long))
    [text] = desk.texts(desk.files[0])
    assert SHAPES in text
    assert text.count("\n") < PIECE_LINES


def test_of_a_very_long_file_what_is_near_where_somebody_worked() -> None:
    text = "x = 1\n" * NEAR_LINES + SHAPES + "x = 1\n" * NEAR_LINES
    far = Open("far.py", text, last_cursor=Position(0, 0))
    near = Open("near.py", text, last_cursor=Position(NEAR_LINES + 5, 0))
    desk = Desk(main(), far, near)
    assert desk.paths(desk.files[0]) == ["near.py"]


@pytest.mark.parametrize(
    "other",
    [
        Open("secret.py", SHAPES, excluded=True),
        Open("old.py", SHAPES, scheme="git"),
        Open("notes.txt", SHAPES, language="plaintext"),
        Open("empty.py", ""),
        Open("unlike.py", "zebra = lion\n"),
    ],
    ids=lambda other: other.path,
)
def test_what_never_gets_in(other: Open) -> None:
    desk = Desk(main(), other)
    assert desk.texts(desk.files[0]) == []


def test_a_file_that_becomes_a_secret_leaves_at_once() -> None:
    desk = Desk(main(), Open("shapes.py", SHAPES))
    assert desk.texts(desk.files[0])
    desk.files[1].excluded = True
    assert desk.texts(desk.files[0]) == []


def test_languages_that_share_code() -> None:
    page = Open("page.tsx", SHAPES, "typescriptreact")
    desk = Desk(page, Open("util.js", SHAPES, "javascript"), Open("util.py", SHAPES))
    assert desk.paths(page) == ["util.js"]


def test_the_set_stays_while_somebody_works_in_a_file() -> None:
    desk = Desk(main(), Open("shapes.py", SHAPES))
    first = desk.texts(desk.files[0])
    desk.files[0].type("oven bread dough heat\n" * 40)
    desk.files[1].type("# changed\n")
    desk.files.append(Open("cooking.py", COOKING))
    assert desk.texts(desk.files[0], Position(3, 4)) == first
    desk.files.pop(1)  # closed
    assert desk.texts(desk.files[0], Position(20, 0)) == first


def test_far_away_in_the_file_another_set_is_chosen() -> None:
    ruler = "#" * 40 + "\n"  # no words, and enough of it that neither end sees the other's
    here = main("circle radius area\n" + ruler * 2 * FAR + "oven bread dough heat")
    desk = Desk(here, Open("shapes.py", SHAPES), Open("cooking.py", COOKING))
    assert desk.paths(here) == ["shapes.py"]
    assert desk.paths(here, Position(FAR, 0)) == ["shapes.py"]
    assert desk.paths(here, here.document.text.end) == ["cooking.py"]
    assert desk.paths(here, Position(FAR + 2, 0)) == ["cooking.py"]


def test_who_comes_back_keeps_what_is_still_there() -> None:
    here = main("circle def oven bread dough heat")
    shapes, cooking = Open("shapes.py", SHAPES), Open("cooking.py", COOKING)
    desk = Desk(here, shapes)
    first = desk.texts(here)
    desk.files.append(cooking)
    desk.texts(shapes)  # somebody looks at another file
    shapes.type("# a line above\n" * 3)
    assert desk.texts(here) == [*first, COOKING.strip("\n")], "what is new comes behind it"


def test_who_comes_back_gets_what_was_changed() -> None:
    here, shapes = main(), Open("shapes.py", SHAPES)
    desk = Desk(here, shapes)
    desk.texts(here)
    desk.texts(shapes)
    shapes.type("_of", Position(0, 8))
    [text] = desk.texts(here)
    assert text.startswith("def area_of(circle)")


def test_a_much_better_piece_takes_the_place_of_an_old_one() -> None:
    here = main("circle radius")
    both = Open("both.py", SHAPES + "\n" * PIECE_LINES + COOKING)
    desk = Desk(here, both)
    assert desk.texts(here)[0].startswith("def area")
    desk.texts(both)
    here.document.text.replace_all("circle oven bread dough heat\n")
    assert desk.texts(here)[0].startswith("def bake")


def test_of_many_files_those_in_which_somebody_worked_last() -> None:
    files = [Open(f"{n}.py", SHAPES) for n in range(DOCUMENTS + 3)]
    here = main()
    desk = Desk(here, *files)
    for n in (0, 1):
        desk.texts(files[n])
    newest = [f"{n}.py" for n in (1, 0, DOCUMENTS + 2, DOCUMENTS + 1)]
    assert desk.paths(here) == newest[:COUNT]


def test_secrets_take_nobody_s_place() -> None:
    secrets = [Open(f"{n}.py", SHAPES, excluded=True) for n in range(DOCUMENTS)]
    here = main()
    assert Desk(here, Open("shapes.py", SHAPES), *secrets).paths(here) == ["shapes.py"]


def test_everything_is_bounded() -> None:
    minified = Open("x" * 2_000 + "/min.js", "circle.radius;" * 20_000, "javascript")
    here = Open("here.js", "circle radius\n", "javascript")
    [snippet] = Desk(here, minified).snippets.for_document(here.document, TOP)
    assert len(snippet.text) <= MAX_SNIPPET
    assert len(snippet.path) == 512


def test_line_ends_are_those_that_models_know() -> None:
    desk = Desk(main(), Open("shapes.py", SHAPES.replace("\n", "\r\n")))
    assert desk.texts(desk.files[0]) == [SHAPES.strip("\n")]


def test_a_closed_file_is_forgotten() -> None:
    desk = Desk(main(), Open("shapes.py", SHAPES))
    desk.texts(desk.files[0])
    for file in desk.files:
        desk.snippets.forget(file.document)
    assert [desk.snippets._sets, desk.snippets._words, desk.snippets._worked_in] == [{}, {}, {}]
