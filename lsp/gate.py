"""Whether a suggestion is wanted at a place at all, before anything is computed.

Pure; secrets are judged by `exclude`.
"""

from pathlib import PurePosixPath

from lsp.settings import Settings

READ_ONLY_SCHEMES = frozenset(
    [
        "output",
        "git",
        "gitfs",
        "gitlens",
        "hg",
        "svn",
        "debug",
        "walkthrough",
        "vscode-scm",
        "vscode-settings",
        "vscode-terminal",
        "search-editor",
        "comment",
        "review",
        "pr",
        "jdt",
        "deno",
        "man",
        "help",
        "term",
        "fugitive",
    ]
)
"""URI schemes of documents that nobody types code into: output panes, old revisions, sources of libraries."""


def reason_not_to_ask(
    *, settings: Settings, scheme: str, path: str, language: str, before: str, rest: str, invoked: bool
) -> str | None:
    """None to ask, else why not: "disabled", "language", "folder", "read-only" or "in-word".

    `path` is the document's full path; `before` and `rest` are the cursor's line in front of the cursor and behind it.
    A person who asked by hand gets an answer in the middle of a word too.
    """
    if not settings.enabled:
        return "disabled"
    if language in settings.languages_off:
        return "language"
    if any(PurePosixPath(path).is_relative_to(folder) for folder in settings.folders_off):
        return "folder"
    if scheme.casefold() in READ_ONLY_SCHEMES:
        return "read-only"
    if not invoked and _is_word(rest[:1]) and (before.strip() == "" or _is_word(before[-1:])):
        return "in-word"
    return None


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
