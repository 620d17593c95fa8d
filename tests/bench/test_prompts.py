"""Prompts: whole lines, the middle of a line, and tables that repeat nothing."""

from bench import prompts
from bench.prompts import head, inside_a_line, unpredictable


def test_prompts_are_whole_lines(monkeypatch):
    monkeypatch.setattr(prompts, "CHARACTERS", 6)
    assert head("ab\ncd\nef\n") == "ab\ncd\n"


def test_inside_the_last_line_that_is_long_enough():
    assert inside_a_line("a = 1\n    return total\n)\n\n") == "a = 1\n    return"
    assert inside_a_line("x\n") == "x\n"


def test_tables_repeat_nothing_and_are_the_same_each_time():
    texts = unpredictable(4, seed=3)
    assert texts == unpredictable(4, seed=3)
    assert len(set(texts)) == 4
    for text in texts:
        words = [word for line in text.splitlines()[1:] for word in line.replace(",", " ").split() if word != "="]
        assert len(words) == len(set(words)) > 20
        assert text.endswith("\n")
