"""Trimming, by the cases that users of such tools reported, by more of their kind, and by property."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from completion_server.ending import Ending
from lsp.context import plain
from lsp.document import Document
from lsp.positions import Encoding
from lsp.refine import refine
from lsp.syntax import Syntax
from lsp.trim import Surroundings, Trimmed, on_this_line, trim

CURSOR = "⟦|⟧"
DATA = Path(__file__).parent / "data"
CASES: list[dict[str, Any]] = json.loads((DATA / "text_cases.json").read_text())
CASES += json.loads((DATA / "more_text_cases.json").read_text())


def shown(document: str, model: str, language: str) -> Trimmed:
    """What is shown where the model says `model`: the engine's ending, syntax, then trimming, then the line ends."""
    before, after = plain(document).split(CURSOR)
    ending = Ending(before, after, language)
    text = ending.feed(model) + ending.finish("end-of-text")
    around = Surroundings.of(before, after, language)
    trimmed = trim(refine(text, before, after, Syntax(before, after, language), around).text, around)
    eol = "\r\n" if "\r\n" in document else "\n"
    return replace(trimmed, text=trimmed.text.replace("\n", eol))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_reported_cases(case: dict[str, Any], encoding: Encoding) -> None:
    model = case["model"]
    if case.get("tokens") == "special":
        model = model.partition("<|")[0]  # the engine stops at their ids, before there is text
    trimmed = shown(case["document"], model, case["language"])
    assert (trimmed.text or None) == case["insert"]

    before, after = case["document"].split(CURSOR)
    document = Document("d1", "file:///a", before + after, encoding=encoding)
    cursor = document.wire_position(document.text.back(document.text.end, len(after)))
    if "character" in case:
        assert cursor.character == case["character"][encoding]
    end = document.wire_position(document.text.back(document.text.end, len(after) - trimmed.replace))
    document.apply_change(types.TextDocumentContentChangePartial(types.Range(cursor, end), trimmed.text))
    assert str(document.text) == before + (case["insert"] or "") + after.removeprefix(case.get("replace", ""))


@pytest.mark.parametrize(
    ("document", "model", "insert"),
    [
        # closers that the editor inserted, of every kind
        ("x = [⟦|⟧]", "1, 2]", "1, 2"),
        ("x = {⟦|⟧}", '"a": 1}', '"a": 1'),
        ("f(g[⟦|⟧])", "0])", "0"),
        ("f(g[⟦|⟧)", "0])", "0]"),
        ("foo(bar(⟦|⟧)", "1, 2))", "1, 2)"),
        ("if (a[⟦|⟧]) {", "i])", "i"),
        ("foo(⟦|⟧);", "a, b);\nbar();", "a, b"),
        ("foo(⟦|⟧)", ")", None),
        ("x = (⟦|⟧)", "(1 + 2) * 3)", "(1 + 2) * 3"),
        ("print(⟦|⟧)", '")")', '")"'),  # a closer within a string closes nothing
        # more behind them
        ("foo(⟦|⟧)", "a);\nb();", "a);"),
        ("foo(bar(⟦|⟧))", "a), b)", "a), b)"),
        ("foo(⟦|⟧)", ");", ");"),
        ("with open(⟦|⟧)", "p) as f:\n    g(f)", "p) as f:\n    g(f)"),
        ("if (⟦|⟧)", "a) {\n  b();\n}", "a) {\n  b();\n}"),
        ("x = { ⟦|⟧ }", "a: 1 };", "a: 1 };"),
        ("if (⟦|⟧)", "a) {", "a"),  # a block comes whole
        ("if (⟦|⟧)", "a) {\n  b();", "a"),
        ("if f(⟦|⟧)", "a):", "a"),
        ("foo(⟦|⟧)", "a)  # and so on", "a"),
        ("foo(⟦|⟧)", "a));", "a"),  # one closer too many
        ("foo(bar(⟦|⟧))", "a);", "a"),  # one too few
        ("foo(⟦|⟧);", "a).b();", "a"),  # somebody has finished the line
        ("x = { ⟦|⟧ }", "a: 1};", "a: 1"),  # the space of the old line would have to go
        ("if (⟦|⟧)\n  b();\n", "a)\n  b();", "a"),
        ('foo("⟦|⟧")', 'a") + b;', 'a") + b;'),
        ('x = "⟦|⟧"', 'a";', 'a";'),
        ('{"⟦|⟧"', 'a": 1', "a"),
        # quotes
        ("x = '⟦|⟧'", "it'", "it"),
        ('x = "⟦|⟧"', 'a \\" b"', 'a \\" b'),
        ("x = `⟦|⟧`;", "${a}`;", "${a}"),
        ('x = """⟦|⟧"""', 'Doc."""', "Doc."),
        ('foo("⟦|⟧")', 'a", "b")', "a"),
        ("x = f'⟦|⟧'", "{y}'", "{y}"),
        ("# don't f(⟦|⟧)", "x)", "x"),
        # the rest of the line
        ("f(⟦|⟧, b)", "a, b)", "a"),
        ("x = ⟦|⟧;", "5;\ny = 6;", "5;\ny = 6;"),  # in place of the semicolon
        ("return x⟦|⟧ + y", "+ y", None),
        ("return x⟦|⟧ + y", " + y + z", None),
        ("foo⟦|⟧(x)", "bar(", "bar"),
        ("return ⟦|⟧x", "max", "max"),  # an x within a word is another x
        ("foo(⟦|⟧b)", "a, ", "a, "),  # a space that parts two words stays
        # lines below
        ("if a:\n    ⟦|⟧\nelse:\n    y()\n", "x()\nelse:\n    z()", "x()"),
        ("{\n  ⟦|⟧\n}", "}", None),
        ("if (a) {\n    ⟦|⟧\n  }\n}", "b();\n  }\n}", "b();"),
        ("a()\n⟦|⟧\nc()\n", "c()\nd()", None),
        ("a()\n⟦|⟧\n\n\nc()\n", "b()\nc()", "b()"),
        ("⟦|⟧\nx\na\nb\nc\n", "1\na\nb\nc", "1"),  # a repeated block further down
        ("⟦|⟧\nx\na\nb\nc\n", "1\na\nb\nd", "1\na\nb\nd"),
        ('    """\n    ⟦|⟧\n    """\n', 'Text.\n    """', "Text."),
        ("f {\n  ⟦|⟧\n  }\n", "if x {\n    y\n  }", "if x {\n    y\n  }"),  # it closes its own bracket
        # white space
        ("x⟦|⟧", "  \t ", None),
        ("x = ⟦|⟧", "1\t \n \n", "1"),
        ("f() {⟦|⟧}", "\n  return 1;\n}", "\n  return 1;\n}"),  # in place of the closer
        ("    f(⟦|⟧)", "\n        a,\n        b,", "\n        a,\n        b,\n    )"),  # the limit cut it off
        ("x = 1⟦|⟧", "\ny = 2", None),  # its first line equals the empty rest of the line
        # the start of a line with code
        ("    ⟦|⟧y = 2", "x = 1\n    y = 2", "x = 1\n    "),
        ("⟦|⟧y = 2", "y = 2", None),
    ],
)
def test_more_of_each_kind(document: str, model: str, insert: str | None) -> None:
    before, after = document.split(CURSOR)
    assert (trim(model, Surroundings.of(before, after)).text or None) == insert


PIECES = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    '"""',
    "\\",
    "a",
    "b1",
    " ",
    "  ",
    ", ",
    ";",
    ":",
    "\n",
    "\n    ",
    "\n}\n",
]
CODE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def own(trimmed: Trimmed) -> str:
    """What is new in it: without the rest of the line that it puts at its end."""
    return trimmed.text[: len(trimmed.text) - trimmed.replace]


@given(CODE, CODE, CODE)
def test_trimming_twice_changes_nothing(text: str, before: str, after: str) -> None:
    around = Surroundings.of(before, after)
    once = trim(text, around)
    assert once in (trim(once.text, around), trim(own(once), around))


@given(CODE, CODE, CODE)
def test_what_is_shown_says_something_and_adds_nothing(text: str, before: str, after: str) -> None:
    around = Surroundings.of(before, after)
    trimmed = trim(text, around)
    insert = trimmed.text
    if insert:
        assert insert.strip()
        assert insert.partition("\n")[0] != around.rest
        new = own(trimmed) if insert.endswith(around.rest) else insert
        assert new == f"{new.rstrip()}\n{around.before}" or text.startswith(new.rstrip())


@given(CODE, CODE, CODE)
def test_what_is_replaced_is_written_again(text: str, before: str, after: str) -> None:
    around = Surroundings.of(before, after)
    trimmed = trim(text, around)
    assert trimmed.replace in (0, len(around.rest), len(around.rest.rstrip()))
    if trimmed.replace:
        assert "\n" in trimmed.text or text.startswith(trimmed.text)
        left = iter(trimmed.text)
        assert all(char in left for char in around.rest[: trimmed.replace])


@given(CODE, CODE)
def test_what_follows_the_cursor_already_is_not_shown(before: str, after: str) -> None:
    new = own(trim(after, Surroundings.of(before, after)))
    assert not new or new.rstrip() != after.rstrip()


@pytest.mark.parametrize(
    ("before", "after", "text", "wanted"),
    [
        ("x = 1\n", "\ny = 2\n", "\ndef f():\n    pass", "def f():\n    pass"),
        ("def f():\n    ", "\n", "\n    return 1", "return 1"),
        ("def f():\n    ", "\n", "\n\n  \n        return 1\n    x", "    return 1\n    x"),
        ("def f():\n    ", "\n", "\nx = 1", "\nx = 1"),  # it leaves the block that the cursor is in
        ("def f():", "\n", "\n    return 1", "\n    return 1"),
        ("", "y = 2\n", "\nx = 1", "\nx = 1"),
        ("", "\n", "x = 1\n\ny", "x = 1\n\ny"),
        ("", "\n", "\n\n", ""),
        ("", "\n", "", ""),
    ],
)
def test_on_a_blank_line_it_begins_on_that_line(before: str, after: str, text: str, wanted: str) -> None:
    assert on_this_line(text, Surroundings.of(before, after)) == wanted


@pytest.mark.parametrize(
    ("after", "text", "wanted"),
    [
        ("\nx = 1\n", "\n    return 1\n", "\n    return 1"),
        (" + y\n", " + y\n", ""),  # text stands there: still never
        ("\n", "\n\n", ""),
    ],
)
def test_an_item_that_begins_on_the_next_line_goes_to_clients_that_take_it(after: str, text: str, wanted: str) -> None:
    before = "def f():"
    assert trim(text, Surroundings.of(before, after, may_begin_below=True)).text == wanted
    assert trim(text, Surroundings.of(before, after)).text == ""
