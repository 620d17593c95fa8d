"""What counts as a name, and how many of them."""

from dataclasses import replace

import pytest

from completion_server.numbers.names import MOST, OTHER, Names
from completion_server.numbers.records import DraftRecord, KeyRecord

KEY = KeyRecord(1.0, "Neovim", "embedded", "python", "engine", 4, 90.0, 30.0)


def language(name: str, names: Names | None = None) -> str:
    record = (names or Names()).tidy(replace(KEY, language=name))
    assert isinstance(record, KeyRecord)
    return record.language


@pytest.mark.parametrize("name", ["", "python", "c++", "f#", "objective-c", "vue-html", "español", "x" * 64])
def test_a_name_stays(name: str) -> None:
    assert language(name) == name


@pytest.mark.parametrize("name", ["/home/me/secret.py", "return a + b", "a\nb", "x" * 65, "a=1", "\x1b[31m", '"'])
def test_what_is_no_name_is_not_kept(name: str) -> None:
    assert language(name) == OTHER


@pytest.mark.parametrize(
    ("editor", "kept"),
    [("Visual Studio Code - Insiders", True), ("vim (remote)", True), ("C:\\Users\\me", False), ("/home/me", False)],
)
def test_an_editor_may_have_words(editor: str, kept: bool) -> None:
    assert Names().tidy(replace(KEY, editor=editor)) == replace(KEY, editor=editor if kept else OTHER)


def test_those_that_came_first_are_kept_apart() -> None:
    names = Names()
    assert [language(f"l{number}", names) for number in range(MOST)] == [f"l{number}" for number in range(MOST)]
    assert language("late", names) == OTHER
    assert language("l3", names) == "l3"


def test_an_untouched_record_is_the_same_one() -> None:
    names = Names()
    draft = DraftRecord(1.0, "p", "go", "n-gram", 0, 1, 1)
    assert names.tidy(KEY) is KEY
    assert names.tidy(draft) is draft
