"""How much of a suggestion that is still being written may be shown already: what later text cannot cut away again.

Whole lines, because most cuts are made at line ends, and the words of the first line where it takes long. Held back is
the head of what may turn out to repeat the lines below the cursor, and a line that the suggestion has had before: a
loop is cut behind its first copy. Pure; line ends are `\\n`; what stays is still to be trimmed.
"""

import re

from lsp.trim import Surroundings

_BLOCK = 3  # lines below the cursor that are cut if a suggestion repeats them, see `repeats`
_WORDS = re.compile(r".*[\w)\]}\"'](?=\W)", re.DOTALL)


def settled(said: str, around: Surroundings, *, words: bool = False) -> str:
    """The head of `said` that stands whatever comes behind it; `words`: also part of its first line.

    `around` is the place where `said` begins. Empty where text follows the cursor on its line: what is cut there
    depends on the whole suggestion.
    """
    if around.rest.strip():
        return ""
    whole, newline, _ = said.rpartition("\n")
    if newline:
        return _without_repeats(whole.split("\n"), around)
    return _whole_words(said, around) if words else ""


def _without_repeats(lines: list[str], around: Surroundings) -> str:
    full = [around.before + lines[0], *lines[1:]]
    below = [line.strip() for line in around.below if line.strip()]
    stop = next((at for at in range(len(full)) if _is_held(full, at, below)), len(full))
    return "\n".join(lines[:stop])


def _is_held(lines: list[str], at: int, below: list[str]) -> bool:
    """Whether line `at` is said again, or begins what may become a repetition of lines below."""
    if not lines[at].strip():
        return False
    if lines[at] in lines[:at] and any(map(str.isalnum, lines[at])):
        return True
    tail = [line.strip() for line in lines[at:] if line.strip()]
    return len(tail) < _BLOCK and any(below[n : n + len(tail)] == tail for n in range(len(below)))


def _whole_words(line: str, around: Surroundings) -> str:
    match = _WORDS.match(line)
    if match is None:
        return ""
    start = (around.before + match[0]).strip()
    return "" if any(line.strip().startswith(start) for line in around.below) else match[0]
