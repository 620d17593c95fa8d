"""What every pair does, in the same order: turns of typing, of cursors and of plain decoding, evenly mixed.

Mixed, so that whoever interrupts a run has some of each.
"""

import random
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal, get_args

from bench.prompts import CHARACTERS, head
from bench.quality import corpus
from bench.quality.cursors import Cursor
from bench.sources import read_sources
from bench.typist import Session, Source, sessions

Part = Literal["replay", "quality", "engine"]
PARTS: tuple[Part, ...] = get_args(Part)

KEYS_PER_TURN = 25  # a line or so: many places say more than many keys in one

_EXTENSION = re.compile(r"\.[\w+#-]{1,16}")


@dataclass(frozen=True, slots=True)
class Typing:
    session: Session

    @property
    def steps(self) -> int:
        return len(self.session.keys)


@dataclass(frozen=True, slots=True)
class Judging:
    """Cursors of one file."""

    cursors: tuple[Cursor, ...]

    @property
    def steps(self) -> int:
        return len(self.cursors)


@dataclass(frozen=True, slots=True)
class Decoding:
    """A prompt to go on from."""

    prompt: str
    steps = 1


Turn = Typing | Judging | Decoding


@dataclass(frozen=True, slots=True)
class Amount:
    """How much of each part is to be done, at places that `seed` chooses."""

    keys: int = 400
    cursors: int = 100
    prompts: int = 12
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """`files` is their number, `extensions` are theirs: all that a report says of a person's code."""

    turns: tuple[Turn, ...]
    files: int
    extensions: tuple[str, ...]


def plan(
    patterns: Sequence[str],
    amount: Amount,
    parts: Collection[Part] = PARTS,
    on_cursor: Callable[[int], None] = lambda _: None,
) -> Plan:
    """The turns of `parts` in the files that `patterns` name. `on_cursor` hears how many cursors there are.

    Raises SettingsError where no file matches, ValueError where none has a place to type at.
    """
    sources = read_sources(patterns)
    random.Random(amount.seed).shuffle(sources)  # a few of many: not those whose names come first
    kinds: list[Sequence[Turn]] = []
    if "replay" in parts:
        typed = sessions(sources, amount.keys, amount.seed, per_session=KEYS_PER_TURN)
        kinds.append([Typing(session) for session in typed])
    if "quality" in parts:
        drawn = corpus.cursors(corpus.matching(patterns), amount.cursors, amount.seed, on_cursor)
        kinds.append([Judging(tuple(some)) for _, some in groupby(drawn, key=lambda cursor: cursor.path)])
    if "engine" in parts:
        kinds.append([Decoding(prompt) for prompt in _prompts(sources, amount.prompts)])
    if not any(kinds):
        raise ValueError("no file has text to go on from")
    extensions = {_extension(source.path) for source in sources}
    return Plan(tuple(_mixed(kinds)), len(sources), tuple(sorted(extensions)))


def _extension(path: Path) -> str:
    """`other` for what is part of a name, or no text at all, rather than an extension."""
    return "none" if not path.suffix else path.suffix if _EXTENSION.fullmatch(path.suffix) else "other"


def _prompts(sources: Sequence[Source], count: int) -> list[str]:
    """Heads of files, one each, of those that are long enough where there are as many."""
    long_ones_first = sorted(sources, key=lambda source: len(source.text) < CHARACTERS)
    return [text for source in long_ones_first[:count] if (text := head(source.text))]


def _mixed(kinds: Sequence[Sequence[Turn]]) -> list[Turn]:
    """All of them, each kind in its order and at an even pace."""
    placed = [
        (number / len(turns), kind, turn) for kind, turns in enumerate(kinds) for number, turn in enumerate(turns)
    ]
    return [turn for _, _, turn in sorted(placed, key=lambda place: place[:2])]
