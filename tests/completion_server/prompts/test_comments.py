"""Path lines as comments."""

import pytest

from completion_server.prompts import comments
from completion_server.prompts.comments import comment


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "# a/b"),
        ("shellscript", "# a/b"),
        ("sh", "# a/b"),
        ("typescriptreact", "// a/b"),
        ("typescript.tsx", "// a/b"),
        ("CPP", "// a/b"),
        ("php", "// a/b"),
        ("lua", "-- a/b"),
        ("sql", "-- a/b"),
        ("tex", "% a/b"),
        ("html", "<!-- a/b -->"),
        ("css", "/* a/b */"),
        ("ocaml", "(* a/b *)"),
        ("", "# a/b"),
        ("of-its-own", "# a/b"),
    ],
)
def test_a_line(language, line):
    assert comment("a/b", language) == line


def test_no_language_has_two_styles():
    names = [name for names in comments._STYLES.values() for name in names.split()]
    assert len(names) == len(set(names)) > 150
