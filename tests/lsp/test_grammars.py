"""Every language named has a grammar that loads and parses."""

from pathlib import Path

import pytest
from tree_sitter import Parser

from lsp.grammars import LANGUAGES, canonical, grammar_of
from lsp.headless import language_of

PROGRAMS = {
    "c": "int f(void) { return 1; }\n",
    "cpp": "template <class T> T f(T x) { return x; }\n",
    "csharp": "class A { int F() => 1; }\n",
    "css": "a { color: red; }\n",
    "go": "package a\n\nfunc f() int {\n\treturn 1\n}\n",
    "html": "<p>a</p>\n",
    "java": "class A { int f() { return 1; } }\n",
    "javascript": "const a = <b>{c}</b>;\n",
    "json": '{"a": [1]}\n',
    "kotlin": "fun f(): Int { return 1 }\n",
    "lua": "function f()\n  return 1\nend\n",
    "php": "<?php function f() { return 1; }\n",
    "python": "def f():\n    return 1\n",
    "ruby": "def f\n  1\nend\n",
    "rust": "fn f<'a>(x: &'a str) -> &'a str { x }\n",
    "scala": "def f(x: Int): Int = x + 1\n",
    "shellscript": "for f in *; do echo $f; done\n",
    "swift": "func f() -> Int { return 1 }\n",
    "toml": "[a]\nb = 1\n",
    "typescript": "const a: number = 1;\n",
    "typescriptreact": "const a: A = <b>{c}</b>;\n",
    "yaml": "a:\n  - b\n",
}


def test_there_is_a_program_for_each_language() -> None:
    assert set(PROGRAMS) == {canonical(language) for language in LANGUAGES}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_right_programs_parse_and_broken_ones_do_not(language: str) -> None:
    grammar = grammar_of(language)
    assert grammar is not None
    program = PROGRAMS[canonical(language)]
    assert not Parser(grammar).parse(program.encode()).root_node.has_error
    if canonical(language) != "html":  # in which everything is text
        assert Parser(grammar).parse(f"{program})]}}".encode()).root_node.has_error


def test_another_language_has_none() -> None:
    assert grammar_of("plaintext") is None
    assert grammar_of("") is None


@pytest.mark.parametrize("suffix", [".py", ".go", ".tsx", ".sh", ".cs"])
def test_ids_are_those_that_editors_give(suffix: str) -> None:
    assert grammar_of(language_of(Path(f"a{suffix}"))) is not None
