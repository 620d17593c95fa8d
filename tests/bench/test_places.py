"""Documents of every size have the same text around the cursor, and the size that was asked for."""

from pathlib import Path

import pytest

from bench.places import NEAR, around, in_lines, middle, with_before
from bench.typist import Session, Source

BLOCK = "def f{0}(x):\n    if x > {0}:\n        return x\n    return {0}\n\n\n"
SOURCES = [Source(Path("a.py"), "".join(BLOCK.format(n) for n in range(200)))]


def test_the_place_is_in_front_of_a_statement():
    place = middle(SOURCES, 4)
    assert "".join(place.keys) in ("if x", "retu")
    assert place.before.splitlines()[-1].isspace()


def test_short_sources_are_repeated():
    place = middle([Source(Path("a.py"), BLOCK.format(1))], 4)
    assert place.before.count("\n") > NEAR
    assert place.after.count("\n") > NEAR


def test_text_without_a_statement_is_no_place():
    with pytest.raises(ValueError, match="statement"):
        middle([Source(Path("a.py"), "x = 1\n")], 4)


@pytest.mark.parametrize("lines", [500, 1_000, 5_000])
def test_a_document_of_so_many_lines(lines):
    place = middle(SOURCES, 4)
    session = in_lines(place, lines, SOURCES, seed=1)
    assert abs((session.before + session.after).count("\n") - lines) <= 12
    assert session.keys == place.keys
    assert session.before.endswith(around(place, NEAR, NEAR).before)
    assert session.after.startswith(around(place, NEAR, NEAR).after)


def test_lines_around_by_hand():
    place = Session(Path("a.py"), "a\nb\n  ", "c\nd\ne\n", ("x",))
    assert around(place, 1, 1) == Session(Path("a.py"), "b\n  ", "c\nd\n", ("x",))


def test_a_beginning_of_its_own():
    place = Session(Path("a.py"), "aaaa\nbbbb\ncccc\n  ", "", ("x",))
    assert with_before(place, 10, "title").before == "# title\ncccc\n  "
