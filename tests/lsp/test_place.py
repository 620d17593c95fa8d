"""What kind of place a cursor stands at, and how much may be suggested there."""

import pytest

from lsp.place import Place
from lsp.syntax import Syntax


def place(document: str, language: str = "python") -> Place:
    return Syntax(*document.split("⟦|⟧"), language).place


@pytest.mark.parametrize(
    ("document", "language", "kind"),
    [
        ("retu⟦|⟧\n", "python", "mid-word"),
        ("x = self.⟦|⟧\n", "python", "member"),
        ("p->⟦|⟧\n", "c", "member"),
        ("std::⟦|⟧\n", "cpp", "member"),
        ("x = ⟦|⟧\n", "python", "assignment"),
        ("x := ⟦|⟧\n", "go", "assignment"),
        ("if x == ⟦|⟧\n", "python", "other"),
        ("f(⟦|⟧)\n", "python", "call"),
        ("f(a, ⟦|⟧)\n", "python", "call"),
        ("f(a)[⟦|⟧\n", "python", "other"),
        ("def f():\n    ⟦|⟧\n", "python", "block-start"),
        ("def f():⟦|⟧\n", "python", "block-start"),
        ("func f() {\n\t⟦|⟧\n}\n", "go", "block-start"),
        ("if (x) {⟦|⟧}\n", "javascript", "block-start"),
        ("if x then\n  ⟦|⟧\nend\n", "lua", "block-start"),
        ("def f():\n    x = 1\n    ⟦|⟧\n", "python", "blank-line"),
        ("x = a[1:⟦|⟧\n", "python", "other"),
        ("# do ⟦|⟧\nx = 1\n", "python", "comment"),
        ("x = 1  # do ⟦|⟧\n", "python", "comment"),
        ("/* do ⟦|⟧ */\n", "c", "comment"),
        ("/* done */⟦|⟧\n", "c", "other"),
        ("/*\n * do\n * ⟦|⟧\n */\nint x;\n", "c", "comment"),
        ('x = "a ⟦|⟧"\n', "python", "string"),
        ('x = "a ⟦|⟧\n', "python", "string"),
        ('x = "a"⟦|⟧\n', "python", "other"),
        ('def f():\n    """Do\n    it ⟦|⟧\n    """\n', "python", "string"),
        ("const s = `a\nb ⟦|⟧`;\n", "javascript", "string"),
        ("const s = `a\n${b.⟦|⟧}`;\n", "javascript", "member"),
        ("f::<&'a str>(x, ⟦|⟧);\n", "rust", "call"),
        ("f(⟦|⟧, b)\n", "python", "rest-of-line"),
        ("- a ⟦|⟧\n", "markdown", "other"),
    ],
)
def test_kinds(document: str, language: str, kind: str) -> None:
    assert place(document, language).kind == kind


@pytest.mark.parametrize(
    ("document", "extent"),
    [
        ("# ⟦|⟧\n", "line"),
        ('x = "⟦|⟧"\n', "line"),
        ("f(⟦|⟧, b)\n", "line"),
        ("x = ⟦|⟧\n", "statement"),
        ("x = 1\n⟦|⟧\n", "block"),
        ("if x:⟦|⟧\n", "block"),
    ],
)
def test_extents(document: str, extent: str) -> None:
    assert place(document).extent == extent
