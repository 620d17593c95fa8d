"""Pieces of other open documents that are worth having in the prompt of one.

They stand in front of the document in a prompt, so a change among them costs a prefill of everything. A set is
therefore chosen when somebody arrives in a document, or goes so far in it that little of the prompt would stay anyway,
and holds still while they work there; the next choice keeps what is still there and nearly as good as the best. How
near a piece is to the cursor is the Jaccard similarity of the words in both. Secrets never get in, and leave at once
where they become some. Knows nothing of requests.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from completion_server.protocol import MAX_SNIPPET, MAX_SNIPPETS, Snippet
from completion_server.protocol.bounds import MAX_SNIPPET_PATH
from lsp.context import plain
from lsp.document import Document
from lsp.gate import READ_ONLY_SCHEMES
from lsp.text import Position

COUNT = min(4, MAX_SNIPPETS)
PIECE_LINES = 40
PIECE = min(2_400, MAX_SNIPPET)  # code points
DOCUMENTS = 8  # that are looked at, those first in which somebody has worked last
NEAR_LINES = 1_000  # of a long document, around the place where somebody has worked in it
FAR = 200  # lines: about what a prompt holds of a document above the cursor

_AROUND = 2_000  # code points on each side of the cursor whose words count
_LEAST = 0.06  # a piece that is less similar says nothing
_KEEP = 1.5  # how much better a new piece must be than one that was in the set before
_WORD = re.compile(r"[^\W\d]\w{2,}")

_RELATIVES = (
    {"javascript", "typescript", "javascriptreact", "typescriptreact", "vue", "svelte", "astro"},
    {"c", "cpp", "cuda", "cuda-cpp", "objc", "objective-c", "objective-cpp"},
    {"css", "scss", "sass", "less", "stylus"},
    {"java", "kotlin", "groovy", "scala"},
    {"shellscript", "sh", "bash", "zsh"},
)


class Source(Protocol):
    """An open document that pieces may come from; a `Completor` is one."""

    document: Document
    last_cursor: Position | None

    @property
    def path(self) -> str: ...

    @property
    def excluded(self) -> bool: ...


class Snippets:
    """The sets of one editor's documents. `sources` gives what is open, in the order of opening."""

    def __init__(self, sources: Callable[[], Iterable[Source]]) -> None:
        self._sources = sources
        self._worked_in: dict[str, None] = {}  # keys of documents, the last one is where somebody is
        self._sets: dict[str, _Set] = {}
        self._words: dict[str, _Words] = {}

    def for_document(
        self, document: Document, cursor: Position, besides: frozenset[str] = frozenset()
    ) -> tuple[Snippet, ...]:
        """The set for `document`, at most `COUNT`; none of a document whose key is in `besides`."""
        arrives = next(reversed(self._worked_in), None) != document.key
        chosen = self._sets.get(document.key)
        if arrives or chosen is None or abs(cursor.line - chosen.line) > FAR:
            self._worked_in.pop(document.key, None)
            self._worked_in[document.key] = None
            old = chosen.pieces if chosen else ()
            chosen = _Set(cursor.line, self._choose(document, cursor, besides, old))
        self._sets[document.key] = _Set(chosen.line, tuple(p for p in chosen.pieces if not p.source.excluded))
        return tuple(piece.snippet for piece in self._sets[document.key].pieces)

    def forget(self, document: Document) -> None:
        """The document was closed. Pieces of it stay where they are until the next choice."""
        for table in (self._worked_in, self._sets, self._words):
            table.pop(document.key, None)

    def _choose(
        self, document: Document, cursor: Position, besides: frozenset[str], old_pieces: tuple["_Piece", ...]
    ) -> tuple["_Piece", ...]:
        wanted = _words_around(document, cursor)
        old = {piece.source.document.key: piece for piece in old_pieces}
        order = {key: number for number, key in enumerate(old)}
        found: list[tuple[float, _Piece]] = []
        for source in self._candidates(document, besides):
            piece = max(self._pieces(source), key=lambda piece: _similarity(piece.words, wanted), default=None)
            score = _similarity(piece.words, wanted) if piece else 0.0
            kept = old.get(source.document.key)
            if kept is not None and kept.still_there() and _similarity(kept.words, wanted) * _KEEP >= score:
                piece, score = kept, _similarity(kept.words, wanted) * _KEEP
            if piece is not None and score >= _LEAST:
                found.append((score, piece))
        found.sort(key=lambda entry: -entry[0])
        best = [piece for _, piece in found[:COUNT]]
        return tuple(sorted(best, key=lambda piece: order.get(piece.source.document.key, len(order))))

    def _candidates(self, document: Document, besides: frozenset[str]) -> list[Source]:
        recency = {key: number for number, key in enumerate(self._worked_in)}
        sources = [
            source
            for source in self._sources()
            if source.document.key not in {document.key, *besides}
            and not source.excluded
            and source.document.scheme.casefold() not in READ_ONLY_SCHEMES
            and _related(source.document.language, document.language)
        ]
        sources.reverse()  # of those in which nobody has worked yet, the one that was opened last comes first
        sources.sort(key=lambda source: -recency.get(source.document.key, -1))
        return sources[:DOCUMENTS]

    def _pieces(self, source: Source) -> tuple["_Piece", ...]:
        document = source.document
        known = self._words.get(document.key)
        if known is None or known.version != document.version:
            known = self._words[document.key] = _Words(document.version, tuple(_cut(source)))
        return known.pieces


@dataclass(frozen=True, slots=True)
class _Piece:
    source: Source
    snippet: Snippet
    words: frozenset[str]

    def still_there(self) -> bool:
        """Whether the document still says this somewhere."""
        return self.snippet.text in plain(str(self.source.document.text))


@dataclass(frozen=True, slots=True)
class _Set:
    line: int  # of the cursor when it was chosen
    pieces: tuple[_Piece, ...]


@dataclass(frozen=True, slots=True)
class _Words:
    version: int  # of the document
    pieces: tuple[_Piece, ...]


def _cut(source: Source) -> Iterator[_Piece]:
    """Overlapping pieces of the part of a document where somebody has worked, from its head if nobody has."""
    text = source.document.text
    middle = source.last_cursor.line if source.last_cursor else 0
    first = max(0, min(middle - NEAR_LINES // 2, text.line_count - NEAR_LINES))
    last = min(text.line_count, first + NEAR_LINES)
    for start in range(first, max(first + 1, last - PIECE_LINES // 2), PIECE_LINES // 2):
        lines = [text.line(number) for number in range(start, min(start + PIECE_LINES, last))]
        piece = plain("\n".join(lines)[:PIECE]).strip("\n")
        if words := frozenset(_WORD.findall(piece)):
            yield _Piece(source, Snippet(plain(source.path)[-MAX_SNIPPET_PATH:], piece), words)


def _words_around(document: Document, cursor: Position) -> frozenset[str]:
    text = document.text
    return frozenset(_WORD.findall(text.slice(text.back(cursor, _AROUND), text.forward(cursor, _AROUND))))


def _similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Jaccard: how many of the words in either are in both."""
    return len(a & b) / (len(a | b) or 1)


def _related(a: str, b: str) -> bool:
    return a == b or any(a in group and b in group for group in _RELATIVES)
