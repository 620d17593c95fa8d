"""Drafts what followed the last tokens when they occurred before.

Also known as prompt lookup. Looks in the sequence itself (most recent occurrence first) and in read-only corpora: text
after the cursor, snippets of other files. Code repeats itself, and a lookup costs microseconds. Lossless verification
makes a wrong match harmless, so one matching token is enough for a short draft; the policy learns how far to trust a
match of each length.
"""

from collections.abc import Iterable, Sequence

from speculative.draft import NO_DRAFT, Draft, DraftRequest
from speculative.prefix import common_prefix

MAX_MATCH = 4


class NgramDrafter:
    """Proposes the continuation of the longest match, at least `min_match` tokens long.

    Keeps its index between requests: a context that shares a long prefix with the last one costs only the difference.
    """

    name = "n-gram"
    free = True

    def __init__(self, corpora: Iterable["Corpus"] = (), *, min_match: int = 1, max_match: int = MAX_MATCH) -> None:
        if not 1 <= min_match <= max_match:
            raise ValueError(f"an n-gram match of {min_match} to {max_match} tokens makes no sense")
        self.corpora: tuple[Corpus, ...] = tuple(corpora)
        self._min_match = min_match
        self._index = NgramIndex(max_match)

    def propose(self, request: DraftRequest) -> Draft:
        self._index.sync(request.tokens)
        for match in range(min(self._index.max_match, len(self._index)), self._min_match - 1, -1):
            tokens = self._continuation(match, request.k)
            if tokens:
                return Draft(tokens, self.name, match=match)
        return NO_DRAFT

    def _continuation(self, match: int, k: int) -> tuple[int, ...]:
        found = self._index.earlier(match)
        if found is not None:
            return self._index.copy(found, k)
        key = self._index.last(match)
        for corpus in self.corpora:
            tokens = corpus.following(key, k)
            if tokens:
                return tokens
        return ()


class NgramIndex:
    """A token list that knows where each of its last `max_match`-grams (and shorter) ends.

    Appending and removing a token each cost O(max_match). Every n-gram has a stack of the positions behind it, so the
    most recent one is on top and removing from the end only pops.
    """

    def __init__(self, max_match: int = MAX_MATCH) -> None:
        self.max_match = max_match
        self._tokens: list[int] = []
        self._ends: dict[tuple[int, ...], list[int]] = {}

    def __len__(self) -> int:
        return len(self._tokens)

    def sync(self, tokens: Sequence[int]) -> None:
        """Hold exactly `tokens`, by rolling back to the common prefix and appending the rest."""
        self.truncate(common_prefix(self._tokens, tokens))
        for token in tokens[len(self._tokens) :]:
            self.append(token)

    def append(self, token: int) -> None:
        self._tokens.append(token)
        for key in self._keys():
            self._ends.setdefault(key, []).append(len(self._tokens))

    def truncate(self, length: int) -> None:
        """Forget everything from position `length` on."""
        while len(self._tokens) > length:
            for key in self._keys():
                ends = self._ends[key]
                ends.pop()
                if not ends:
                    del self._ends[key]
            self._tokens.pop()

    def last(self, match: int) -> tuple[int, ...]:
        """The last `match` tokens."""
        return tuple(self._tokens[len(self._tokens) - match :])

    def earlier(self, match: int) -> int | None:
        """The position behind the most recent earlier occurrence of the last `match` tokens (1 to `max_match`)."""
        ends = self._ends.get(self.last(match), ())
        return ends[-2] if len(ends) > 1 else None  # the top is the end of the list itself

    def copy(self, start: int, k: int) -> tuple[int, ...]:
        """k tokens from position `start`. Behind the end it goes on with what it has copied, so loops continue."""
        found = self._tokens[start : start + k]
        period = len(self._tokens) - start
        return tuple(found[i % period] for i in range(k))

    def _keys(self) -> Iterable[tuple[int, ...]]:
        return (self.last(match) for match in range(1, min(self.max_match, len(self._tokens)) + 1))


class Corpus:
    """A token list that never changes, indexed once and shared freely.

    Its *first* occurrence of an n-gram counts: in the text after the cursor that is the nearest one.
    """

    def __init__(self, tokens: Sequence[int], max_match: int = MAX_MATCH) -> None:
        self._tokens = tuple(tokens)
        self._first: dict[tuple[int, ...], int] = {}
        for end in range(1, len(self._tokens)):
            for match in range(1, min(max_match, end) + 1):
                self._first.setdefault(self._tokens[end - match : end], end)

    def following(self, key: tuple[int, ...], k: int) -> tuple[int, ...]:
        """At most k tokens behind the first occurrence of `key`; empty if there is none."""
        start = self._first.get(key)
        return () if start is None else self._tokens[start : start + k]
