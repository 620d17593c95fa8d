"""Where cursors stand and what is taken out of the document there: every kind by hand, the same for the same seed."""

import random
from collections import Counter
from pathlib import Path

import pytest

from bench.quality.corpus import cursors, matching
from bench.quality.cursors import KINDS, draw, in_need
from bench.quality.parsing import Parsed
from completion_server.errors import SettingsError

PYTHON = """\
import os


# A file with one place of each kind.

def total(prices, rate):
    result = 0
    for price in prices:
        result += price
        if price:
            print(price, rate)
    return result


def names(people):
    return [
        person.name
        for person in people
    ]


text = "a = b.c(d"
"""
SCRIPT = """\
function first() {
  return 1;
}


export function second(items) {
  const most = call(one, [two, {
    three: items,
  }]);
  if (most) {
    go(most);
  } else {
    stop();
  }
  return most;
}
"""
MARK = "⟦|⟧"


def all_of(kind, text=PYTHON, language="python"):
    """Every cursor of a kind, by drawing until no new one comes."""
    found = {}
    for seed in range(300):
        for cursor in draw(Path("a"), language, Parsed(text, language), [kind], random.Random(seed)):
            found[len(cursor.before)] = cursor
    return [found[start] for start in sorted(found)]


def written(cursor, lines=0):
    """The line of the cursor with what the author wrote there, and `lines` lines below it."""
    below = "\n".join(cursor.after.split("\n")[: lines + 1])
    return f"{cursor.before.rpartition(chr(10))[2].lstrip()}{MARK}{cursor.wrote}{MARK}{below}"


def test_the_author_s_document_is_what_stands_there_and_what_he_wrote() -> None:
    for kind in KINDS:
        for text, language in ((PYTHON, "python"), (SCRIPT, "javascript")):
            for cursor in all_of(kind, text, language):
                assert cursor.before + cursor.wrote + cursor.after == text
                assert cursor.wrote == cursor.wrote.rstrip()
                assert not cursor.in_brackets or cursor.after.lstrip()[0] in ")]}"


def test_behind_a_dot_and_an_equals_sign_the_rest_of_the_statement_goes() -> None:
    assert [written(c) for c in all_of("dot")] == [f"person.{MARK}name{MARK}"]
    assert [written(c) for c in all_of("equals")] == [f'text ={MARK} "a = b.c(d"{MARK}']  # a lone 0 says too little


def test_in_brackets_what_stands_in_them_goes_and_nothing_else() -> None:
    assert [written(c) for c in all_of("paren")] == [
        f"def total({MARK}prices, rate{MARK}):",
        f"print({MARK}price, rate{MARK})",
        f"def names({MARK}people{MARK}):",
    ]
    assert all(c.in_brackets for c in all_of("paren"))


def test_outside_of_brackets_the_body_of_a_header_goes_with_it() -> None:
    (header, *_) = [c for c in all_of("word") if c.wrote.partition("\n")[0].endswith(" in prices:")]
    assert header.wrote.partition("\n")[2] == (
        "        result += price\n        if price:\n            print(price, rate)"
    )
    assert not header.in_brackets


def test_a_word_is_cut_inside_and_never_a_string_or_a_comment() -> None:
    for cursor in all_of("word"):
        assert cursor.before[-1].isalpha()
        assert cursor.wrote[0].isalnum() or cursor.wrote[0] == "_"
        line = cursor.before.rpartition("\n")[2]
        assert "#" not in line
        assert '"' not in line


def test_nothing_is_taken_out_that_would_leave_a_bracket_open() -> None:
    flat = "\n" * 6 + "value = call(first, [\nsecond,\n])\nother = value.first\n"
    assert [c.wrote for c in all_of("equals", flat)] == [" value.first"]


def test_whole_blocks_and_statements() -> None:
    (loop, *_) = [c for c in all_of("indent") if c.wrote.startswith("result += price")]
    assert loop.wrote == "result += price\n        if price:\n            print(price, rate)"
    assert loop.after.startswith("\n    return result\n")
    (rest,) = [c for c in all_of("block") if c.wrote.startswith("for price")]
    assert rest.wrote.endswith("    return result")
    assert [written(c, 1) for c in all_of("above") if "for price" in c.wrote] == [
        f"{MARK}for price in prices:\n        result += price\n        if price:\n            print(price, rate){MARK}"
        "\n    return result"
    ]


def test_statements_of_a_language_with_braces() -> None:
    (call,) = [c for c in all_of("paren", SCRIPT, "javascript") if c.wrote.startswith("one")]
    assert call.wrote == "one, [two, {\n    three: items,\n  }]"
    assert call.after.startswith(");\n  if (most)")
    (branch,) = [c for c in all_of("above", SCRIPT, "javascript") if c.wrote.startswith("if")]
    assert branch.wrote == "if (most) {\n    go(most);\n  } else {\n    stop();\n  }"
    assert [c.after[:3] for c in all_of("paren", SCRIPT, "javascript") if c.wrote == "most"] == [") {", ");\n"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(PYTHON.replace("total", f"total{number}") * 3)
    (tmp_path / "s.js").write_text(SCRIPT * 3)
    (tmp_path / "broken.py").write_text("def f(:\n" + PYTHON * 3)
    (tmp_path / "generated.py").write_text("# Generated by a program. DO NOT EDIT.\n" + PYTHON * 3)
    (tmp_path / "wide.py").write_text(PYTHON * 3 + f"x = [{'1, ' * 200}]\n")
    (tmp_path / "short.py").write_text("x = 1\n")
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe" * 100)
    (tmp_path / "data.json").write_text("{}")
    (tmp_path / "types.d.ts").write_text("declare const a: number;\n" * 40)
    return tmp_path


def test_drawing_is_the_same_for_the_same_seed_and_spreads_over_kinds_files_and_languages(folder: Path) -> None:
    paths = matching([f"{folder}/**/*"])
    found = cursors(paths, 28, seed=3)
    assert found == cursors(paths, 28, seed=3)
    assert found != cursors(paths, 28, seed=4)
    assert len(found) == len({(c.path, len(c.before)) for c in found}) == 28
    counts = Counter(c.kind for c in found)
    assert counts.keys() == set(KINDS)
    assert max(counts.values()) - min(counts.values()) <= 2
    assert {c.language for c in found} == {"python", "javascript"}


def test_files_that_nobody_typed_or_that_do_not_parse_are_left_out(folder: Path) -> None:
    paths = matching([f"{folder}/*"])
    assert not {path.name for path in paths} & {"data.json", "types.d.ts"}
    used = {c.path.name for c in cursors(paths, 100, seed=0)}
    assert used == {*(f"m{number}.py" for number in range(6)), "s.js"}


def test_those_of_one_file_come_in_a_row_from_above_to_below(folder: Path) -> None:
    found = cursors(matching([f"{folder}/m*.py"]), 30, seed=5)
    order = list(dict.fromkeys(c.path for c in found))
    assert found == sorted(found, key=lambda c: (order.index(c.path), len(c.before)))


def test_nothing_to_draw_from_is_said(folder: Path) -> None:
    with pytest.raises(SettingsError, match="no file"):
        matching([f"{folder}/*.rs"])
    with pytest.raises(ValueError, match="no file has a place"):
        cursors([folder / "short.py"], 1, seed=0)


def test_the_kinds_that_there_are_fewest_of_come_next() -> None:
    assert in_need(Counter()) == list(KINDS)
    assert in_need(Counter({"indent": 1, "dot": 2}))[-2:] == ["indent", "dot"]
