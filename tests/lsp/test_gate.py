"""When nothing is asked."""

import pytest

from lsp.gate import reason_not_to_ask
from lsp.settings import Settings


def reason(
    before: str = "x = ",
    rest: str = "",
    *,
    settings: Settings | None = None,
    scheme: str = "file",
    path: str = "/project/a.py",
    language: str = "python",
    invoked: bool = False,
) -> str | None:
    return reason_not_to_ask(
        settings=settings or Settings(),
        scheme=scheme,
        path=path,
        language=language,
        before=before,
        rest=rest,
        invoked=invoked,
    )


def test_code_is_asked_for() -> None:
    assert reason() is None
    assert reason(scheme="untitled") is None
    assert reason(scheme="vscode-notebook-cell") is None


def test_settings_count() -> None:
    assert reason(settings=Settings(enabled=False)) == "disabled"
    assert reason(settings=Settings(languages_off=("python",))) == "language"
    assert reason(settings=Settings(languages_off=("python",)), invoked=True) == "language"


@pytest.mark.parametrize(("folder", "off"), [("/project", True), ("/project/", True), ("/pro", False), ("/x", False)])
def test_folders_without_suggestions(folder: str, off: bool) -> None:
    assert (reason(settings=Settings(folders_off=(folder,)), invoked=True) == "folder") is off


@pytest.mark.parametrize("scheme", ["output", "git", "GIT", "search-editor"])
def test_what_nobody_types_into(scheme: str) -> None:
    assert reason(scheme=scheme, invoked=True) == "read-only"


@pytest.mark.parametrize(
    ("before", "rest", "in_word"),
    [("foo", "bar", True), ("    ", "bar", True), ("é", "é", True), ("foo(", "bar", False), ("foo", "(", False)],
)
def test_the_middle_of_a_word(before: str, rest: str, in_word: bool) -> None:
    assert (reason(before, rest) == "in-word") is in_word
    assert reason(before, rest, invoked=True) is None
