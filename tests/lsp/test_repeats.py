"""Lines that stand below already; more of them in the cases of `test_trim`."""

import pytest

from lsp.repeats import without_lines_below


@pytest.mark.parametrize(
    ("text", "below", "kept"),
    [
        ("a()\nb()", ["b()"], "a()"),
        ("a()\n  b()", ["b()"], "a()\n  b()"),  # in another block it is another line
        ("a()\n  b()\n  c()\n  d()", ["b()", "c()", "d()"], "a()"),  # three are no chance, however indented
        ("a()\n  b()\n  c()\n  e()", ["b()", "c()", "d()"], "a()\n  b()\n  c()\n  e()"),
        ("a()\nreturn x.res", ["return x.result()"], "a()"),  # the limit cut it off
        ("a()\nre", ["return x.result()"], "a()\nre"),
        ("return x.res", ["return x.result()"], "return x.res"),  # what a person is typing now
        ("if a {\n  b\n}", ["}"], "if a {\n  b\n}"),
        ("b\n}", ["}"], "b"),
        ("b\nend", ["end"], "b"),
    ],
)
def test_lines_below(text: str, below: list[str], kept: str) -> None:
    assert without_lines_below(text, "", "", below) == kept
