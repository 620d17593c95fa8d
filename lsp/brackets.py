"""Brackets and quotes on a few lines of code, well enough for trimming in any language.

A scan, not a parser, because the line in front of a cursor is rarely complete: it knows quotes with backslash escapes,
that an apostrophe within a word opens nothing, and that one in front of a word may be a lifetime. Pure.
"""

import re
from collections.abc import Iterator

PAIRS = {")": "(", "]": "[", "}": "{"}
OPENERS = frozenset(PAIRS.values())
CLOSERS = frozenset(PAIRS)
ONE_LINE_QUOTES = frozenset("\"'")
_WORD_END = re.compile(r"\w+\Z")
_QUOTES = ('"""', "'''", '"', "'", "`")


def open_quote(line: str, language: str = "") -> str | None:
    """The quote that is open at the end of `line`, taken to start outside of any."""
    at = 0
    while at < len(line):
        quote = _quote_at(line, at)
        if quote == "'" and language in _LIFETIMES and _LIFETIME.match(line, max(0, at - 1)):
            quote = None
        if quote is None:
            at += 1
            continue
        end = find_quote(line, quote, at + len(quote))
        if end is None:
            return quote
        at = end + len(quote)
    return None


def find_quote(text: str, quote: str, start: int = 0) -> int | None:
    """Where `quote` next stands in `text` without a backslash in front of it."""
    at = start
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(quote, at):
            return at
        else:
            at += 1
    return None


def cut_at_quote(text: str, quote: str) -> str:
    """`text`, written inside a string, up to where it ends that string."""
    end = find_quote(text, quote)
    return text if end is None else text[:end]


def cut_at_surplus_closer(text: str, before: str, rest: str) -> str:
    """`text` up to the first bracket that closes what the rest of the line closes already.

    Of the brackets that `before` leaves open, those that `rest` closes are taken; `text` may close the others.
    """
    taken = len(unmatched_closers(rest))
    if not taken:
        return text
    allowed = max(0, len(_unmatched(before)[1]) - taken)
    surplus = unmatched_closers(text)[allowed:]
    return text[: surplus[0]] if surplus else text


def unmatched_closers(text: str) -> list[int]:
    """Where `text` closes brackets that it did not open."""
    return _unmatched(text)[0]


def only_closers(line: str) -> bool:
    """Whether `line` has closers and what may stand between them, and nothing else."""
    return bool(line.strip()) and all(char in CLOSERS or char in "\"'`;,: \t" for char in line)


def open_brackets(text: str) -> list[str]:
    """The brackets that `text` opens and leaves open, the innermost last."""
    return [text[at] for at in _unmatched(text)[1]]


def _unmatched(text: str) -> tuple[list[int], list[int]]:
    closers: list[int] = []
    openers: list[int] = []
    for at, char in _outside_strings(text):
        if char in OPENERS:
            openers.append(at)
        elif char in CLOSERS:
            if openers:
                openers.pop()
            else:
                closers.append(at)
    return closers, openers


def _outside_strings(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(text):
        quote = _quote_at(text, at)
        end = find_quote(text, quote, at + len(quote)) if quote else None
        if quote and end is not None and (quote not in ONE_LINE_QUOTES or "\n" not in text[at:end]):
            at = end + len(quote)
            continue
        yield at, text[at]
        at += 1


def _quote_at(text: str, at: int) -> str | None:
    quote = next((quote for quote in _QUOTES if text.startswith(quote, at)), None)
    if quote == "'" and (word := _WORD_END.search(text, max(0, at - 4), at)) and word[0].lower() not in _PREFIXES:
        return None  # don't
    return quote


_PREFIXES = frozenset(["r", "b", "f", "u", "l", "rb", "br", "fr", "rf"])
"""What may stand in front of a quote in Python, C and C++; longer text is a word with an apostrophe."""

_LIFETIMES = frozenset(["rust"])
_LIFETIME = re.compile(r"[<&]'|.?'\w+(?!['\w])")
