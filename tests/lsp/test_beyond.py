"""What goes on behind the closers that stand behind the cursor, and what adds nothing to them."""

import pytest

from lsp.beyond import beyond


@pytest.mark.parametrize(
    ("text", "rest", "wanted"),
    [
        ("a);", ")", "a);"),
        ("a)", ")", ""),
        ("a)  ", ")", ""),
        ("a), b)", "))", "a), b)"),
        ("a) {\n  b\n}", ")", "a) {\n  b\n}"),
        ("a) {\n  b", ")", ""),
        ("a):", ")", ""),
        ("a);\nb", ")", "a);"),
        ("a) // so", ")", ""),
        ("a);", ");", ""),
        ("a);", "", ""),
        ("a];", ")", ""),
        ("a };", " }", "a };"),
        ("a};", " }", ""),
        ("a);", ")  ", "a);"),
        ('a";', '"', 'a";'),
        ('a") + b', '")', 'a") + b'),
        ('a", b)', '")', ""),
        ('a": 1', '"', ""),
        ("b);", ")", ""),
    ],
)
def test_it_is_kept_where_it_says_more(text: str, rest: str, wanted: str) -> None:
    assert beyond(text, "a", rest) == wanted
