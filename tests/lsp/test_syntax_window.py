"""What is parsed around a cursor."""

from lsp.syntax_window import window


def test_a_small_file_is_parsed_whole() -> None:
    assert window("a\nb", "c\nd") == ("a\nb", "c\nd")


def test_a_large_file_from_a_line_that_begins_at_the_margin() -> None:
    before, after = window("def f():\n    pass\n" * 1_000 + "x = ", "\n" + "def g():\n    pass\n" * 1_000)
    assert before.startswith("def f():\n")
    assert before.endswith("\nx = ")
    assert after.startswith("\ndef g():\n")
    assert after.endswith("    pass\n")
    assert 4_000 < len(before) <= 8_000
    assert len(after) <= 3_000


def test_the_blocks_that_it_is_in_are_kept_from_farther_up() -> None:
    above = "class A:\n    x = 1\n    def f(self):\n" + "        pass\n" * 1_000 + "        if x:\n"
    before, _ = window(above + "            ", "")
    assert before.split("\n")[:3] == ["class A:", "    def f(self):", "        pass"]
    assert len(before) < 8_100


def test_a_minified_line_is_not_parsed_whole() -> None:
    before, after = window("x;" * 10_000, "y;" * 10_000)
    assert (len(before), len(after)) == (2_000, 2_000)


def test_blocks_that_are_cut_off_are_closed() -> None:
    above = "class A {\n  m({\n"
    below = "\n" + "    a: 1,\n" * 1_000 + "  });\n}\n"
    _, after = window(above + "    b: 2,", below)
    assert after.endswith("    a: 1,\n  }\n}\n")
