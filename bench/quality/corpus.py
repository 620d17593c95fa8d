"""The files that cursors are drawn from, and the drawing: from what is on disk to a list of cursors.

Left out are files in a language without a grammar, those that do not parse as they are, and those that nobody typed:
generated or minified ones. The rest are taken in a shuffled order, the languages in turn.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from glob import glob
from itertools import zip_longest
from pathlib import Path

from bench.quality.cursors import PER_FILE, Cursor, Kind, draw, in_need
from bench.quality.parsing import Parsed
from completion_server.errors import SettingsError
from lsp.grammars import LANGUAGES
from lsp.headless import language_of

_NO_CODE = frozenset(["css", "html", "json", "jsonc", "shellscript", "toml", "yaml"])  # hardly dots and brackets
_COMPILED = (".d.ts", ".min.js")
_ROUNDS = 8  # how often a file may be drawn from where there are few
_LEAST_LINES = 30
_MOST_BYTES = 200_000
_LONGEST_LINE = 400  # code points; a longer one was written by a program
_GENERATED = re.compile(r"generated|do not edit|auto-?gen|@license.*min", re.IGNORECASE)
_HEAD = 1_000  # code points in which a file says that it is generated


def matching(patterns: Sequence[str]) -> list[Path]:
    """The files that the patterns name, in the order of their names. Raises `SettingsError` without any."""
    names = {name for pattern in patterns for name in glob(pattern, recursive=True)}  # noqa: PTH207 - may be absolute
    paths = sorted(path for path in map(Path, names) if path.is_file() and _is_code(path))
    if not paths:
        raise SettingsError(f"no file in a language with a grammar matches {', '.join(patterns)}")
    return paths


def cursors(
    paths: Sequence[Path], count: int, seed: int, on_cursor: Callable[[int], None] = lambda _: None
) -> list[Cursor]:
    """`count` cursors, those of one file in a row; fewer where the files have no more. `on_cursor` hears how many.

    Raises `ValueError` where there is none.
    """
    drawn: Counter[Kind] = Counter()
    found: dict[Path, list[Cursor]] = {}
    order = _in_turn(paths, seed)
    for path in [*order] * _ROUNDS:
        parsed = _typed_by_hand(path)
        if parsed is None:
            continue
        earlier = found.setdefault(path, [])
        dice = random.Random(f"{seed} {path.name} {len(parsed.text)} {len(earlier)}")
        most, taken = min(PER_FILE, count - drawn.total()), {len(cursor.before) for cursor in earlier}
        some = draw(path, language_of(path), parsed, in_need(drawn), dice, most=most, taken=taken)
        drawn.update(cursor.kind for cursor in some)
        found[path] = sorted([*earlier, *some], key=lambda cursor: len(cursor.before))
        on_cursor(drawn.total())
        if drawn.total() >= count:
            break
    if not drawn:
        raise ValueError("no file has a place to type at")
    return [cursor for some in found.values() for cursor in some]


def _is_code(path: Path) -> bool:
    return language_of(path) in LANGUAGES - _NO_CODE and not path.name.endswith(_COMPILED)


def _in_turn(paths: Iterable[Path], seed: int) -> list[Path]:
    """Shuffled, the languages in turn."""
    dice = random.Random(seed)
    by_language: defaultdict[str, list[Path]] = defaultdict(list)
    for path in paths:
        by_language[language_of(path)].append(path)
    for some in by_language.values():
        dice.shuffle(some)
    return [path for turn in zip_longest(*by_language.values()) for path in turn if path is not None]


def _typed_by_hand(path: Path) -> Parsed | None:
    """A file that somebody may have typed, without a syntax error; else None."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None
    lines = text.split("\n")
    if len(lines) < _LEAST_LINES or max(map(len, lines)) > _LONGEST_LINE or _GENERATED.search(text[:_HEAD]):
        return None
    parsed = Parsed(text, language_of(path))
    return parsed if parsed.ok else None
