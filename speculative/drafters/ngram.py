"""Drafts what followed the last tokens when they occurred before.

Also known as prompt lookup. Looks in the sequence itself and in other sources: text after the cursor, snippets of other
files, the latest suggestions. Code repeats itself, and a lookup costs microseconds. Lossless verification makes a wrong
match harmless, so one matching token is enough for a short draft.

Each drafted token is looked up anew behind those before it: the longest match counts, then the source that stands
first, then the occurrence that the source thinks best. How sure a guess is shows in two things, and they are its mark:
how long the match is, and whether the same token followed at the other occurrences too. Of a match of four tokens that
always went on the same way nearly everything is accepted, of one that last went on otherwise about half.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torch import Tensor

from speculative.draft import NO_DRAFT, Draft, DraftRequest, Mark
from speculative.drafters.index import MAX_MATCH, NgramIndex, Source, match_back

LONGEST = 16  # a longer match tells nothing new
_LENGTHS = (1, 2, 3, 4, 5, 8, 16)  # where a match counts as longer
_FORCED = 100  # added to the kind of tokens chosen under a constraint


class NgramDrafter:
    """Proposes the continuation of the longest match, at least `min_match` tokens long.

    Keeps its index between requests: a context that shares a long prefix with the last one costs only the difference.
    Where the constraint allows only some tokens, only occurrences that go on with one of those count, and if no match
    is left the most recent such token of the text does: that completes a name that is being typed.
    """

    name = "n-gram"
    free = True

    def __init__(self, sources: Iterable[Source] = (), *, min_match: int = 1) -> None:
        if not 1 <= min_match <= MAX_MATCH:
            raise ValueError(f"an n-gram match of at least {min_match} tokens makes no sense")
        self.sources: tuple[Source, ...] = tuple(sources)
        self._min_match = min_match
        self._index = NgramIndex()

    def propose(self, request: DraftRequest) -> Draft:
        self._index.sync(request.tokens)
        recent = list(request.tokens[-LONGEST:])
        tokens: list[int] = []
        marks: list[Mark] = []
        match = LONGEST
        while len(tokens) < request.k:
            allowed = _ids(request.allowed(tokens))
            guess = self._guess(recent, match + 1, allowed)
            if guess is None:
                break
            match = guess.match
            tokens.append(guess.token)
            recent.append(guess.token)
            marks.append(_mark(self.name, guess, forced=allowed is not None))
        return Draft(tuple(tokens), self.name, marks=tuple(marks)) if tokens else NO_DRAFT

    def _guess(self, recent: Sequence[int], longest: int, allowed: frozenset[int] | None) -> "_Guess | None":
        """The likeliest token behind `recent`, of which at most `longest` can match."""
        for size in range(min(MAX_MATCH, longest, len(recent)), self._min_match - 1, -1):
            key = tuple(recent[-size:])
            for source in (self._index, *self.sources):
                guess = _best(source, key, recent, allowed)
                if guess is not None:
                    return guess
        if allowed is None:
            return None
        return next((_Guess(token, 0, 1, 1) for token in reversed(self._index.tokens) if token in allowed), None)


class _Guess(NamedTuple):
    """`agreeing` of the `seen` best occurrences (at most 3) went on with `token`, counted from the best."""

    token: int
    match: int
    agreeing: int
    seen: int


def _best(source: Source, key: tuple[int, ...], recent: Sequence[int], allowed: frozenset[int] | None) -> _Guess | None:
    found = source.found(key)
    if allowed is not None:
        found = [end for end in found if source.tokens[end] in allowed]
    if not found:
        return None
    match = len(key)
    if match == MAX_MATCH:
        matches = {end: match_back(source.tokens, end, recent, match, LONGEST) for end in found}
        match = max(matches.values())
        found = sorted(found, key=lambda end: matches[end] < match)  # the longest first, else in their order
    following = [source.tokens[end] for end in found[:3]]
    agreeing = next((i for i, token in enumerate(following) if token != following[0]), len(following))
    return _Guess(following[0], match, agreeing, len(following))


def _mark(name: str, guess: _Guess, *, forced: bool) -> Mark:
    length = sum(guess.match >= least for least in _LENGTHS)
    alike = 0 if guess.seen == 1 else 1 if guess.agreeing == 1 else guess.agreeing  # once, otherwise, twice, thrice
    chance = _FORCED_CHANCE if forced else _CHANCES[length - 1][alike]
    return Mark(name, 4 * length + alike + (_FORCED if forced else 0), chance)


# How often the embedded target agreed on real code, before the policy has seen anything: rows by length of the match,
# columns: seen once, the last two differ, the last two agree, the last three agree.
_CHANCES = (
    (0.31, 0.23, 0.41, 0.58),
    (0.43, 0.38, 0.61, 0.83),
    (0.50, 0.30, 0.68, 0.80),
    (0.70, 0.40, 0.75, 0.90),
    (0.75, 0.40, 0.88, 0.95),
    (0.90, 0.60, 0.90, 0.96),
    (0.92, 0.70, 0.97, 0.98),
)
_FORCED_CHANCE = 0.6


def _ids(allowed: Tensor | None) -> frozenset[int] | None:
    return None if allowed is None else frozenset(allowed.tolist())
