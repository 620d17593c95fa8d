"""How much of a suggestion is kept: what leaves the text as parseable as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp.syntax import Cut, Syntax
from lsp.trim import Surroundings


def cut(document: str, text: str, language: str = "python") -> Cut:
    before, after = document.split("⟦|⟧")
    return Syntax(before, after, language).cut(text, Surroundings.of(before, after, language))


IN_A_FUNCTION = {
    "python": "def f(x):\n    ⟦|⟧\n",
    "c": "int f(int x) {\n    ⟦|⟧\n}\n",
    "go": "func f(x int) {\n\t⟦|⟧\n}\n",
    "javascript": "function f(x) {\n  ⟦|⟧\n}\n",
    "lua": "function f(x)\n  ⟦|⟧\nend\n",
}


@pytest.mark.parametrize(
    ("language", "text", "kept"),
    [
        ("python", "y = x\n    z = g(", "y = x"),
        ("python", "y = x\n    if y:", "y = x"),
        ("python", "y = x\n    if y:\n        # then", "y = x"),
        ("python", "if x:\n        y()\n    else:", "if x:\n        y()"),
        ("python", "y = x\n        z = y", "y = x"),  # indented for no reason
        ("python", "y = x\n    try:\n        z()", "y = x"),
        ("python", "with x:\n        y()\n    z()", "with x:\n        y()\n    z()"),
        ("c", "x++;\n    if (x) {\n        g();", "x++;"),
        ("c", "g();\n    return x", "g();"),
        ("c", "if (x) {\n        g();\n    }\n    h(", "if (x) {\n        g();\n    }"),
        ("go", "y := x\n\tfor i := range y {\n\t\tg(i)", "y := x"),
        ("javascript", "let y = x;\n  y.map((z) => {\n    return z;", "let y = x;"),
        ("lua", "local y = x\n  if y then\n    g()", "local y = x"),
    ],
)
def test_a_half_statement_goes_where_a_whole_one_fits(language: str, text: str, kept: str) -> None:
    assert cut(IN_A_FUNCTION[language], text, language) == Cut(kept)


@pytest.mark.parametrize(
    ("document", "text", "kept"),
    [
        ("x = ⟦|⟧\n", "f(a,\n      b", Cut("f(a,\n      b", whole=False)),
        ("x = f(⟦|⟧\n", "a, b", Cut("a, b", whole=False)),
        ("x = f(⟦|⟧\n", "a, b)", Cut("a, b)")),
        ("x = f(⟦|⟧\n", "a, b))", Cut("a, b)")),
        ("x = f(⟦|⟧)\n", "a, b", Cut("a, b")),
        ("x = f(⟦|⟧)\n", "a b", Cut("a b", whole=False, worse=True)),
        ("⟦|⟧\n", "if x:", Cut("if x:", whole=False, worse=True)),
        ("x = (\ny = ⟦|⟧\n", "1", Cut("1")),  # what is broken elsewhere is not its fault
    ],
)
def test_what_is_not_whole_says_so(document: str, text: str, kept: Cut) -> None:
    assert cut(document, text) == kept


@pytest.mark.parametrize(
    ("document", "text", "kept"),
    [
        ("def f(x):\n    y = ⟦|⟧\n", "x + 1\n    return y", "x + 1"),
        ("def f(x):\n    y = ⟦|⟧\n", "g(\n        x,\n    )\n    return y", "g(\n        x,\n    )"),
        ("def f(x):\n    if ⟦|⟧\n", "x:\n        g()\n    h()", "x:\n        g()"),
        ("def f(⟦|⟧\n", "x):\n    return x\n\ng()", "x):\n    return x"),
        ("def f(x):\n    # Do ⟦|⟧\n", "it.\n    g()", "it."),
        ('x = "⟦|⟧"\n', "a\nb", "a"),
    ],
)
def test_what_is_beyond_the_extent_of_the_place_goes(document: str, text: str, kept: str) -> None:
    assert cut(document, text).text == kept


@pytest.mark.parametrize(
    ("document", "language", "extent"),
    [
        ("x = ⟦|⟧\n", "python", "statement"),
        ("# a ⟦|⟧\n", "python", "line"),
        ("def f():\n    ⟦|⟧\n", "python", "block"),
        ('"""\n⟦|⟧\n"""\n', "python", "block"),  # what is said may begin with a line end
        ("- a ⟦|⟧\n", "markdown", "block"),
    ],
)
def test_how_far_it_is_worth_asking(document: str, language: str, extent: str) -> None:
    before, after = document.split("⟦|⟧")
    assert Syntax(before, after, language).extent == extent


def test_where_a_file_is_broken_elsewhere_no_worse_than_now_will_do() -> None:
    """The call at the end is never closed, whatever stands at the cursor, and who types there sees suggestions."""
    document = "def f(x):\n    if x:\n        y = ⟦|⟧\n  else:\n    g(\n"
    assert cut(document, "x") == Cut("x")
    assert cut(document, "x))]") == Cut("x")


def test_without_a_grammar_everything_stays() -> None:
    assert cut("- a\n- ⟦|⟧\n", "b (\n- c", "markdown") == Cut("b (\n- c")


def test_far_away_blocks_are_known() -> None:
    """A method in a class of thousands of lines is in that class."""
    methods = "".join(f"  m{number}() {{\n    return {number};\n  }}\n\n" for number in range(2_000))
    document = f"class A {{\n{methods}  last() {{\n    ⟦|⟧\n  }}\n\n{methods}}}\n"
    assert cut(document, "return 1;", "javascript") == Cut("return 1;")
    assert cut(document, "return 1;\n    f(", "javascript") == Cut("return 1;")
    assert cut(document, "if (a) {", "javascript") == Cut("if (a) {", whole=False, worse=True)


def test_characters_of_several_bytes_do_not_move_anything() -> None:
    assert cut("x = '😀é漢'\ny = f(⟦|⟧, '😀')\n", "'漢', 1") == Cut("'漢', 1")
    assert cut("x = '😀é漢'\ny = f(⟦|⟧\n", "'漢'))") == Cut("'漢')")


PIECES = ["(", ")", "{", "}", '"', "if x:", "x", " = ", "1", "\n", "\n    ", "# a", ", ", "def f():"]
CODE = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)


@given(CODE, CODE, CODE, st.sampled_from(["python", "javascript", "go", ""]))
def test_it_keeps_a_head_and_cutting_twice_changes_nothing(before: str, after: str, text: str, language: str) -> None:
    around = Surroundings.of(before, after, language)
    syntax = Syntax(before, after, language)
    once = syntax.cut(text, around)
    assert text.startswith(once.text)
    assert syntax.cut(once.text, around).text == once.text
