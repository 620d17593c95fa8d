"""Brackets and quotes on a line of code."""

import pytest

from lsp.brackets import cut_at_quote, cut_at_surplus_closer, open_quote, unmatched_closers


@pytest.mark.parametrize(
    ("line", "quote"),
    [
        ("x = 1", None),
        ('x = "', '"'),
        ('x = "a" + "', '"'),
        ('x = "a\\"', '"'),
        ("x = 'a' + 'b'", None),
        ("it's", None),
        ("f(it's, '", "'"),
        ("x = f'", "'"),
        ("(rb'", "'"),
        ('x = """a "b"', '"""'),
        ("x = `${a} ", "`"),
    ],
)
def test_the_quote_that_is_open_at_the_end(line: str, quote: str | None) -> None:
    assert open_quote(line) == quote


@pytest.mark.parametrize(
    ("text", "closers"),
    [(")", [0]), ("()", []), ("a(b))c]", [4, 6]), ('")"', []), ("')' + ]", [6]), ("don't)", [5]), ("'\n)", [2])],
)
def test_closers_without_an_opener(text: str, closers: list[int]) -> None:
    assert unmatched_closers(text) == closers


def test_a_string_ends_at_its_own_quote() -> None:
    assert cut_at_quote('a\\"b"c', '"') == 'a\\"b'
    assert cut_at_quote("a", '"') == "a"


@pytest.mark.parametrize(
    ("text", "before", "rest", "cut"),
    [
        ("1)", "f(", "", "1)"),  # nothing closes it yet
        ("1)", "f(", ")", "1"),
        ("1))", "f(g(", ")", "1)"),
        ("1)", "", ")", "1"),  # opened on a line above
        ("g(1)", "f(", ")", "g(1)"),
        ("a]) + [1]", "f([", "])", "a"),
    ],
)
def test_closers_that_the_rest_of_the_line_has(text: str, before: str, rest: str, cut: str) -> None:
    assert cut_at_surplus_closer(text, before, rest) == cut
