"""Token lists that know where each of their short sequences occurs.

Three of them: the sequence being decoded, which grows and shrinks at its end; a text that never changes; the latest
suggestions. Knows nothing of how much an occurrence is worth.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Protocol

from speculative.prefix import common_prefix

MAX_MATCH = 4  # tokens in a key; longer matches are compared token by token from there
CANDIDATES = 16  # occurrences that are looked at
BOUNDARY = -1  # stands between two suggestions; no token, so that nothing matches across it


class Source(Protocol):
    """Something to look n-grams up in."""

    @property
    def tokens(self) -> Sequence[int]:
        """The list that positions point into."""

    def found(self, key: tuple[int, ...]) -> Sequence[int]:
        """The positions behind at most `CANDIDATES` occurrences of `key` (1 to `MAX_MATCH` tokens), best first.

        A token stands at each of them.
        """


class NgramIndex:
    """A token list that changes at its end; the most recent occurrence is the best.

    Appending and removing a token each cost O(MAX_MATCH): every n-gram has a stack of the positions behind it.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self._ends: dict[tuple[int, ...], list[int]] = {}

    def sync(self, tokens: Sequence[int]) -> None:
        """Hold exactly `tokens`, by rolling back to the common prefix and appending the rest."""
        self.truncate(common_prefix(self.tokens, tokens))
        for token in tokens[len(self.tokens) :]:
            self.append(token)

    def append(self, token: int) -> None:
        self.tokens.append(token)
        for key in self._keys():
            self._ends.setdefault(key, []).append(len(self.tokens))

    def truncate(self, length: int) -> None:
        """Forget everything from position `length` on."""
        while len(self.tokens) > length:
            for key in self._keys():
                ends = self._ends[key]
                ends.pop()
                if not ends:
                    del self._ends[key]
            self.tokens.pop()

    def found(self, key: tuple[int, ...]) -> Sequence[int]:
        ends = self._ends.get(key)
        if ends is None:
            return ()
        last = len(ends) - (ends[-1] == len(self.tokens))  # the end of the list has nothing behind it
        return ends[max(0, last - CANDIDATES) : last][::-1]

    def _keys(self) -> Iterable[tuple[int, ...]]:
        end = len(self.tokens)
        return (tuple(self.tokens[end - size : end]) for size in range(1, min(MAX_MATCH, end) + 1))


class Corpus:
    """A token list that never changes, indexed once and shared freely.

    The *first* occurrence is the best: in the text after the cursor that is the nearest one.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = tuple(tokens)
        self._ends: dict[tuple[int, ...], list[int]] = {}
        for end in range(1, len(self.tokens)):
            for size in range(1, min(MAX_MATCH, end) + 1):
                ends = self._ends.setdefault(self.tokens[end - size : end], [])
                if len(ends) < CANDIDATES:
                    ends.append(end)

    def found(self, key: tuple[int, ...]) -> Sequence[int]:
        return self._ends.get(key, ())


class Suggestions:
    """The latest continuations, as many as fit into `limit` tokens; the most recent occurrence is the best.

    What the target said once it says again in other places, also where the text itself has nothing like it yet.
    """

    def __init__(self, limit: int = 4_096) -> None:
        self._limit = limit
        self._kept: deque[tuple[int, ...]] = deque()
        self._index = NgramIndex()

    @property
    def tokens(self) -> Sequence[int]:
        return self._index.tokens

    def add(self, context: Sequence[int], continuation: Sequence[int]) -> None:
        """Remember `continuation` and the few tokens of `context` that it can be recognised by."""
        self._kept.append((*context[max(0, len(context) - MAX_MATCH) :], *continuation[: self._limit // 2], BOUNDARY))
        if len(self._index.tokens) + len(self._kept[-1]) <= self._limit:
            self._append(self._kept[-1])
            return
        while (
            len(self._kept) > 1 and sum(map(len, self._kept)) > self._limit // 2
        ):  # half of it at once, so that this is rare
            self._kept.popleft()
        self._index = NgramIndex()
        for kept in self._kept:
            self._append(kept)

    def found(self, key: tuple[int, ...]) -> Sequence[int]:
        return [end for end in self._index.found(key) if self.tokens[end] != BOUNDARY]

    def _append(self, tokens: Iterable[int]) -> None:
        for token in tokens:
            self._index.append(token)


def match_back(tokens: Sequence[int], end: int, context: Sequence[int], known: int, most: int) -> int:
    """How many tokens before `end` equal the last ones of `context`: `known` are known to, past `most` none count."""
    match = known
    while match < min(most, end, len(context)) and tokens[end - 1 - match] == context[-1 - match]:
        match += 1
    return match
