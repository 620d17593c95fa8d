"""What a person would type if nothing were ever suggested: timed actions from real files. Pure, the same for a seed.

Two documents at a time, between which the person goes back and forth; in each what its author wrote is typed at one
place (see `bench.typist`). Now and then an earlier line, whose end the document lacks, is completed. Letters are
mistyped at times, taken back and typed anew. Knows nothing of suggestions.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench.keystrokes import position
from bench.replay.actions import Action, Delete, Insert, Move, Open, Switch
from bench.replay.rhythm import Rhythm
from bench.typist import Session, Source, keys_of, session_at, starts

_VISITS = 2  # to each document
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "1234567890")
_NEAR = 40  # lines above the cursor, where the earlier line is
_TAIL = (6, 14)  # code points that it lacks
_MOST_BEHIND_SLIP = 2  # keys that follow a mistyped one before it is noticed


@dataclass(slots=True)
class _Hole:
    """The end of an earlier line that is not there yet. `column` is where it begins, from 0."""

    line: int
    column: int
    text: str


@dataclass(slots=True)
class _Document:
    name: str
    before: str  # what stands in front of the cursor, but for holes
    after: str
    keys: tuple[str, ...]
    visits: list[int]  # keys in each
    holes: list[_Hole | None] = field(default_factory=list)  # one for each visit
    open: bool = False


def human_plan(
    sources: Sequence[Source], keys: int, seed: int, rhythm: Rhythm | None = None, name: str = ""
) -> list[Action]:
    """Actions that type `keys` keys of the authors' text; slips and ends of earlier lines come on top.

    `name` goes before the names of documents.

    Raises ValueError if no file has enough lines to type in.
    """
    return list(_Planner(sources, seed, rhythm or Rhythm(), name).plan(keys))


def steady(sessions: Sequence[Session], rate: float) -> list[Action]:
    """The sessions one after the other, `rate` keys a second without a pause or a mistake."""
    actions: list[Action] = []
    at = 0.0
    for number, session in enumerate(sessions):
        name = f"{session.path.stem}_{number}{session.path.suffix}"
        actions.append(Open(at, name, session.before + session.after, *position(session.before)))
        for key in session.keys:
            at += 1 / rate
            actions.append(Insert(at, key))
    return actions


class _Planner:
    def __init__(self, sources: Sequence[Source], seed: int, rhythm: Rhythm, name: str) -> None:
        self._sources = [source for source in sources if starts(source.text)]
        if not self._sources:
            raise ValueError("no file has enough lines to type in")
        self._dice = random.Random(seed)
        self._rhythm = rhythm
        self._name = name
        self._documents = 0
        self._at = 0.0

    def plan(self, keys: int) -> Iterator[Action]:
        while keys > 0:
            documents = []
            for _ in range(_VISITS):
                if keys > 0:
                    documents.append(self._document(keys))
                    keys -= len(documents[-1].keys)
            for turn in range(_VISITS):
                for document in documents:
                    if turn < len(document.visits):
                        yield from self._visit(document, document.visits[turn], document.holes[turn])

    def _document(self, most: int) -> _Document:
        """One with at most `most` keys, those of its holes not counted."""
        source = self._sources[self._documents % len(self._sources)]
        wanted = [self._dice.randint(self._rhythm.visit_least, self._rhythm.visit_greatest) for _ in range(_VISITS)]
        session = session_at(source, self._dice.choice(starts(source.text)), min(sum(wanted), most))
        first = min(wanted[0], len(session.keys))
        visits = [count for count in (first, len(session.keys) - first) if count]
        name = f"{self._name}{source.path.stem}_{self._documents}{source.path.suffix}"
        self._documents += 1
        document = _Document(name, session.before, session.after, session.keys, visits)
        self._dig(document, session)
        return document

    def _dig(self, document: _Document, session: Session) -> None:
        """Make holes for those visits that have one."""
        lines = session.before.split("\n")
        near = range(max(0, len(lines) - 1 - _NEAR), len(lines) - 1)
        free = [number for number in near if len(lines[number].strip()) > 2 * _TAIL[1]]
        for _ in document.visits:
            hole = None
            if free and self._dice.random() < self._rhythm.jump:
                number = free.pop(self._dice.randrange(len(free)))
                column = len(lines[number]) - self._dice.randint(*_TAIL)
                hole = _Hole(number, column, lines[number][column:])
                lines[number] = lines[number][:column]
            document.holes.append(hole)
        document.before = "\n".join(lines)

    def _visit(self, document: _Document, keys: int, hole: _Hole | None) -> Iterator[Action]:
        if document.open:
            yield Switch(self._at, document.name)
        else:
            line, column = position(document.before)
            yield Open(self._at, document.name, document.before + document.after, line, column)
            document.open = True
        self._at += self._rhythm.look(self._dice)  # at what stands there, before the first key
        typed, document.keys = document.keys[:keys], document.keys[keys:]
        half = self._pause_in(typed)
        yield from self._type(typed[:half])
        document.before += "".join(typed[:half])
        if hole is not None:
            yield from self._complete(hole, *position(document.before))
        yield from self._type(typed[half:])
        document.before += "".join(typed[half:])

    def _pause_in(self, typed: Sequence[str]) -> int:
        """Where somebody would look elsewhere: in front of the line break nearest to the middle, else at the end."""
        breaks = [number for number, key in enumerate(typed) if "\n" in key]
        return min(breaks, key=lambda number: abs(number - len(typed) // 2), default=len(typed))

    def _complete(self, hole: _Hole, line: int, column: int) -> Iterator[Action]:
        """Go to the hole, fill it, and come back to `line` and `column`."""
        self._at += self._rhythm.look(self._dice)
        yield Move(self._at, hole.line, hole.column)
        yield from self._type(keys_of(hole.text))
        self._at += self._rhythm.look(self._dice)
        yield Move(self._at, line, column)

    def _type(self, keys: Sequence[str]) -> Iterator[Action]:
        before = ""
        for number, key in enumerate(keys):
            self._at += self._rhythm.gap(self._dice, before, key)
            if key.isalnum() and self._dice.random() < self._rhythm.slip:
                yield from self._slip(keys[number : number + 1 + _MOST_BEHIND_SLIP])
            yield Insert(self._at, key)
            before = key

    def _slip(self, keys: Sequence[str]) -> Iterator[Action]:
        """Mistype the first of `keys`, perhaps type on, notice, take it back; the next key comes right behind it."""
        wrong = [_neighbour(self._dice, keys[0])]
        for key in keys[1:]:
            if "\n" in key or self._dice.random() >= self._rhythm.slip_goes_on:
                break
            wrong.append(key)
        for number, key in enumerate(wrong):
            self._at += self._rhythm.fluent(self._dice) if number else 0.0
            yield Insert(self._at, key, slip=True)
        self._at += self._rhythm.hesitate(self._dice)
        for _ in wrong:
            yield Delete(self._at, slip=True)
            self._at += self._rhythm.fluent(self._dice)


def _neighbour(dice: random.Random, key: str) -> str:
    """A key beside `key` on the keyboard; one that is on none of its rows is typed as a space."""
    for row in _KEYBOARD:
        if (found := row.find(key.lower())) >= 0:
            wrong = dice.choice(row[max(0, found - 1) : found] + row[found + 1 : found + 2])
            return wrong.upper() if key.isupper() else wrong
    return " "
