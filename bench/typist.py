"""Who types: keys from real files, the same for the same seed. Pure.

A session is one place in one file where somebody types what its author wrote. The text below is there already, as it
is when a function is written into a file. One key is one character; a line break and the indentation that an editor
puts behind it are one key.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

KEYS_PER_SESSION = 300  # about ten lines
_KEY = re.compile(r"\r?\n[ \t]*|.", re.DOTALL)
_EARLIEST, _LATEST = 0.4, 0.85  # of the file: before the first there is little to go by


@dataclass(frozen=True, slots=True)
class Source:
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """`before` and `after` surround the cursor when it starts; `keys` are typed there one by one."""

    path: Path
    before: str
    after: str
    keys: tuple[str, ...]


def keys_of(text: str) -> list[str]:
    """The keys that type `text`."""
    return _KEY.findall(text)


def sessions(sources: Sequence[Source], keys: int, seed: int, per_session: int = KEYS_PER_SESSION) -> list[Session]:
    """Sessions with `keys` keys in all, the files in turn. Raises `ValueError` if no file is long enough to type in."""
    usable = [source for source in sources if starts(source.text)]
    if not usable:
        raise ValueError("no file has enough lines to type in")
    dice = random.Random(seed)
    found: list[Session] = []
    while keys > 0:
        source = usable[len(found) % len(usable)]
        session = session_at(source, dice.choice(starts(source.text)), min(keys, per_session))
        found.append(session)
        keys -= len(session.keys)
    return found


def session_at(source: Source, start: int, keys: int) -> Session:
    """At most `keys` keys typed from the offset `start` on.

    What the author wrote behind the last key on its line is not in the document: nobody has typed it yet.
    """
    typed = keys_of(source.text[start:])[:keys]
    rest = source.text[start + sum(map(len, typed)) :]
    line_end = re.search(r"\r?\n|\Z", rest)
    return Session(source.path, source.text[:start], rest[line_end.start() if line_end else 0 :], tuple(typed))


def starts(text: str) -> list[int]:
    """Places to begin at: behind the indentation of lines with text, in the part of the file where typing may begin."""
    low, high = int(len(text) * _EARLIEST), int(len(text) * _LATEST)
    return [match.end() for match in re.finditer(r"^[ \t]*(?=\S)", text, re.MULTILINE) if low < match.end() < high]
