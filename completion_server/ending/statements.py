"""What a line of code says about the statement it is in, by its indentation and its ends alone. Pure.

Well enough for deciding when to stop writing; what is left to know is the business of a grammar.
"""

_TAB = 4
_OLD_TAB = 8
_EMPTY_COMMENTS = frozenset({"#", "//", "///", "//!", "*", "--", ";"})
_UNFINISHED = (":", "{", "(", "[", "\\", "=", "+", "&&", "||", "=>", "->")
_OPENS_BLOCK = (":", "{", "=>", "->", " then", " do", "|", "else", "begin")
_STATEMENT_PER_LINE = frozenset({"go", "python"})


def is_finished(line: str) -> bool:
    """Whether nothing at the ends of `line`, which has text, says that its statement goes on below."""
    line = line.strip()
    decorates = line.startswith("@") and not line.endswith(";")
    return not (decorates or line in _EMPTY_COMMENTS or line.endswith(_UNFINISHED))


def opens_block(line: str) -> bool:
    """Whether the lines below `line` may be the body of what it says."""
    return line.rstrip().endswith(_OPENS_BLOCK)


def ends_at_line_end(line: str, language: str) -> bool:
    """Whether a finished `line` is the last of its statement in any case: no chain can go on below it."""
    return language in _STATEMENT_PER_LINE or line.rstrip().endswith(";")


def indent_of(line: str, tab: int) -> int:
    """Columns of white space at the beginning."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(tab))


def tab_width(text: str) -> int:
    """Columns of a tab: as of old in a text that indents some lines with spaces and others with tabs."""
    lines = text.split("\n")[1:-1]
    mixed = any(line.startswith("\t") for line in lines) and any(line.startswith("  ") for line in lines)
    return _OLD_TAB if mixed else _TAB
