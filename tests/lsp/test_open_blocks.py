"""At the end of a file blocks are open that nobody has closed yet: a line in them is whole all the same."""

import pytest

from lsp.syntax import Syntax
from lsp.syntax_window import closers_left_out
from lsp.trim import Surroundings


@pytest.mark.parametrize(
    ("language", "before", "after", "said"),
    [
        ("javascript", "function f(xs) {\n  let sum = 0;\n  for (const x of xs) {\n    sum += ", "", "x;"),
        ("javascript", "function f() {\n  if (x) {\n    y = ", "\n}\n", "1;"),
        ("go", "package a\n\nfunc f() {\n\tfmt.", "", "Println(1)"),
        ("rust", "fn f(xs: &[u8]) {\n    xs.iter().", "", "count()"),
        ("c", "int f(void) {\n  return ", "", "0;"),
        ("javascript", "test('a', () => {\n  f(", "", "1);"),
    ],
)
def test_a_line_in_an_open_block_is_whole(language: str, before: str, after: str, said: str) -> None:
    cut = Syntax(before, after, language).cut(said, Surroundings.of(before, after))
    assert (cut.text, cut.whole, cut.worse) == (said, True, False)


@pytest.mark.parametrize(
    ("before", "after", "closers"),
    [
        ("f({\n  g {\n    a", "", "\n}\n}\n)"),
        ("f({\n  g {\n    a", "\n  }\n", "\n}\n)"),
        ("f {\n  g(\n    a", "", ""),
        ("f {\n  a", "\n}\n", ""),
        ("f {\n  g(", "", "\n}"),  # what is open on the cursor's own line a suggestion may close
        ("a", "\n}\n", ""),
    ],
)
def test_closers_that_are_left_out(before: str, after: str, closers: str) -> None:
    assert closers_left_out(before, after) == closers
