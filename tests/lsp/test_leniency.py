"""Faults in Python that the grammar takes for code."""

import ast

import pytest
from tree_sitter import Parser

from lsp.grammars import grammar_of
from lsp.leniency import faults_let_pass


def faults(code: str, language: str = "python", begin: int = 0) -> int:
    grammar = grammar_of("python")
    assert grammar is not None
    root = Parser(grammar).parse(code.encode()).root_node
    assert not root.has_error
    return faults_let_pass(root, begin, len(code), language)


@pytest.mark.parametrize(
    "code",
    [
        "if x:\ny = 1\n",
        "for x in y:\n",
        "class A:\n    def f(self):\n\n    def g(self):\n        pass\n",
        "if x:\n    # nothing\n",
        "x = 1\n    y = 2\n",
        "try:\n    x\n",
    ],
)
def test_faults(code: str) -> None:
    with pytest.raises(SyntaxError):
        ast.parse(code)
    assert faults(code) == 1


@pytest.mark.parametrize(
    "code",
    [
        "if x: y\nz\n",
        "if x:\n    y; z\n    a\n",
        "class A:\n    '''Doc.'''\n",
        "try:\n    x\nfinally:\n    y\n",
        "x = [\n        1,\n]\ny = 2\n",
        "",
    ],
)
def test_code(code: str) -> None:
    ast.parse(code)
    assert faults(code) == 0


def test_only_what_is_touched_counts() -> None:
    code = "if x:\ny = 1\n"
    assert faults(code, begin=len(code)) == 0
    assert faults(code, language="go") == 0
