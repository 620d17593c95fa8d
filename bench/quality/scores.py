"""What one suggestion is worth: the document with it accepted, against the document that its author wrote. Pure.

- `exact`: the cursor's line then reads as the author's does, white space at its end aside.
- `prefix_chars`: so many characters of the suggestion, from its first on, are the author's.
- `similarity` of the first lines of the suggestion and of what the author wrote at the cursor: 1 - edits / length of
  the longer (Levenshtein distance; Navarro, A guided tour to approximate string matching, 2001).
- `syntax_ok`: the whole file parses.
- `repeats`: the suggestion ends in what follows the cursor already: closers behind it, or the lines below. What the
  author repeats himself is none.

Nothing shown is worth nothing, and its `syntax_ok` and `repeats` are None.

The raw continuation takes the place of the rest of the cursor's line, and in brackets it is exact as soon as it has
filled and closed them: it is not blamed for what only trimming can know.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from bench.quality.cursors import Cursor
from bench.quality.parsing import parses
from completion_server.prefix import common_prefix

_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))


@dataclass(frozen=True, slots=True)
class Score:
    shown: bool
    exact: bool = False
    prefix_chars: int = 0
    similarity: float = 0.0
    syntax_ok: bool | None = None
    repeats: bool | None = None


NOTHING = Score(shown=False)


def score(cursor: Cursor, text: str, replaced: int = 0) -> Score:
    """`text` comes in at the cursor, in place of the first `replaced` code points behind it, which the author then
    wrote too. An empty one shows nothing.
    """
    if not text.strip():
        return NOTHING
    wrote, after = cursor.wrote + cursor.after[:replaced], cursor.after[replaced:]
    return Score(
        shown=True,
        exact=_first(text + after) == _first(wrote + after),
        prefix_chars=common_prefix(text, wrote),
        similarity=Levenshtein.normalized_similarity(_first(text), _first(wrote)),
        syntax_ok=parses(cursor.before + text + after, cursor.language),
        repeats=_repeats(cursor, text, after) and not _repeats(cursor, cursor.wrote, cursor.after),
    )


def score_raw(cursor: Cursor, text: str) -> Score:
    """The first line of `text` in the place of the rest of the cursor's line."""
    line, written = text.partition("\n")[0], cursor.wrote + cursor.after
    if not line.strip():
        return NOTHING
    below = cursor.after[len(cursor.after.partition("\n")[0]) :]
    closed = cursor.wrote + cursor.after[:1]
    return Score(
        shown=True,
        exact=_first(line) == _first(written) or (cursor.in_brackets and line.startswith(closed)),
        prefix_chars=common_prefix(line, written),
        similarity=Levenshtein.normalized_similarity(_first(line), _first(written)),
        syntax_ok=parses(cursor.before + line + below, cursor.language),
        repeats=_repeats(cursor, line, below) and not _repeats(cursor, cursor.wrote, cursor.after),
    )


def _first(text: str) -> str:
    return text.partition("\n")[0].rstrip()


def _repeats(cursor: Cursor, text: str, after: str) -> bool:
    rest, _, below = after.partition("\n")
    written = cursor.before.rpartition("\n")[2] + text + rest
    return _repeats_rest(text, rest.strip()) or _repeats_lines(_lines(written), _lines(below))


def _repeats_rest(text: str, rest: str) -> bool:
    """Whether `text` ends in the rest of the cursor's line and is whole without it."""
    if not rest or not text.rstrip().endswith(rest):
        return False
    return bool(_unbalanced(text)) and not _unbalanced(text.rstrip().removesuffix(rest))


def _unbalanced(text: str) -> Counter[str]:
    """Closers that `text` has more of than of what opens them."""
    return Counter({closer: more for opener, closer in _PAIRS if (more := text.count(closer) - text.count(opener)) > 0})


def _repeats_lines(written: Sequence[str], below: Sequence[str]) -> bool:
    """Whether the last lines of one are the first of the other; lines of nothing but closers are no repetition."""
    return any(
        written[-count:] == below[:count] and any(char.isalnum() for char in "".join(below[:count]))
        for count in range(1, min(len(written), len(below)) + 1)
    )


def _lines(text: str) -> list[str]:
    """Those with text."""
    return [line.rstrip() for line in text.split("\n") if line.strip()]
