"""Which grammar parses which language: tree-sitter's own wheels, one for each language, with the grammar inside.

A grammar is loaded when a document of its language is first looked at. Knows nothing of documents or suggestions.
"""

from functools import cache
from importlib import import_module

from tree_sitter import Language

_GRAMMARS = {
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "css": ("tree_sitter_css", "language"),
    "go": ("tree_sitter_go", "language"),
    "html": ("tree_sitter_html", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "json": ("tree_sitter_json", "language"),
    "kotlin": ("tree_sitter_kotlin", "language"),
    "lua": ("tree_sitter_lua", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "python": ("tree_sitter_python", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "scala": ("tree_sitter_scala", "language"),
    "shellscript": ("tree_sitter_bash", "language"),
    "swift": ("tree_sitter_swift", "language"),
    "toml": ("tree_sitter_toml", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "typescriptreact": ("tree_sitter_typescript", "language_tsx"),
    "yaml": ("tree_sitter_yaml", "language"),
}
"""LSP language id to the module and the function that give its grammar."""

_ALIASES = {
    "bash": "shellscript",
    "cs": "csharp",
    "cuda": "cpp",
    "cuda-cpp": "cpp",
    "javascriptreact": "javascript",
    "jsonc": "json",
    "sh": "shellscript",
    "zsh": "shellscript",
}
"""Other ids that editors use for the same languages."""

LANGUAGES = frozenset([*_GRAMMARS, *_ALIASES])


def canonical(language: str) -> str:
    """The one id of a language that has several."""
    return _ALIASES.get(language, language)


@cache
def grammar_of(language: str) -> Language | None:
    """The grammar for an LSP language id; None where there is none here."""
    known = _GRAMMARS.get(canonical(language))
    if known is None:
        return None
    module, function = known
    return Language(getattr(import_module(module), function)())
