"""Tabs and spaces, and how many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp.indentation import Style, in_style, style_of


@pytest.mark.parametrize(
    ("lines", "style"),
    [
        ([], None),
        (["a", "", "b"], None),
        (["a", "\tb", "\t\tc"], Style(tabs=True)),
        (["a", "  b", "    c", "a", "  b"], Style(tabs=False, width=2)),
        (["a", "    b", "", "    c", "        d"], Style(tabs=False, width=4)),
        (["a", "    b", "a", "  b"], Style(tabs=False)),  # as often this as that
        (["a(", "             b"], Style(tabs=False)),  # aligned, not indented
        (["a", "\tb", "\tb", "\t  aligned", "  b"], Style(tabs=True)),
    ],
)
def test_the_style_of_lines(lines: list[str], style: Style | None) -> None:
    assert style_of(lines) == style


@pytest.mark.parametrize(
    ("before", "text", "wanted"),
    [
        # spaces in a file with tabs
        ("def f():\n\t", "if x:\n        y()\n    z()", "if x:\n\t\ty()\n\tz()"),
        ("def f():\n\t", "if x:\n\t    y()", "if x:\n\t\ty()"),
        ("f() {\n\tg() {\n\t\t", "if (x) {\n      y();\n    }", "if (x) {\n\t\t\ty();\n\t\t}"),  # two for one
        ("class A:\n\tdef f(self):", "\n        x", "\n\t\tx"),
        ("\tif x:\n\t\t", "f(a,\n\t\t  b)", "f(a,\n\t\t  b)"),  # aligned behind its tabs
        # tabs in a file with spaces
        ("def f():\n    ", "if x:\n\t\ty()", "if x:\n        y()"),
        ("f() {\n  ", "if (x) {\n\t\ty();\n\t}", "if (x) {\n    y();\n  }"),
        # four for two, two for four
        (
            "f() {\n  ",
            "if (x) {\n      y();\n      if (z) {\n          a();",
            "if (x) {\n    y();\n    if (z) {\n      a();",
        ),
        ("f() {\n    ", "if (x) {\n      y();\n    }", "if (x) {\n        y();\n    }"),
        # nothing to change
        ("def f():\n    ", "x = g(a,\n          b)\n    y", "x = g(a,\n          b)\n    y"),
        (
            "def f():\n    ",
            "def g(\n            a,\n    ):",
            "def g(\n            a,\n    ):",
        ),  # a step of eight in brackets
        ("x = 1\n", "if y:\n  z()", "if y:\n  z()"),  # no style yet
        ("def f():\n\t", "x\n\n\ty", "x\n\n\ty"),
    ],
)
def test_a_suggestion_takes_the_style_of_the_document(before: str, text: str, wanted: str) -> None:
    assert in_style(text, before, "\n") == wanted


def test_what_is_below_counts_too() -> None:
    assert in_style("if x:\n    y()", "", "\nif z:\n\ta()\n") == "if x:\n\ty()"


LINES = st.lists(
    st.tuples(st.sampled_from(["", "  ", "    ", "\t", "\t\t", "\t  "]), st.sampled_from(["a", "b:", "c {", ""]))
)


@given(LINES, LINES)
def test_only_white_space_changes_and_earlier_lines_do_not_depend_on_later_ones(
    document: list[tuple[str, str]], suggestion: list[tuple[str, str]]
) -> None:
    before = "\n".join(map("".join, document))
    lines = list(map("".join, suggestion))
    text = in_style("\n".join(lines), before, "\n")
    assert [line.strip() for line in text.split("\n")] == [line.strip() for line in "\n".join(lines).split("\n")]
    head = in_style("\n".join(lines[:2]), before, "\n")
    assert text.startswith(head)
