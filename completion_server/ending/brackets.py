"""Which brackets and quotes are open, character by character, in any language. Knows nothing of comments or syntax.

A quote ends with its line unless it is a triple one, so a stray apostrophe in a comment does no harm further on.
"""

PAIRS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = frozenset(PAIRS.values())

# Where ' is part of names, lifetimes or prose.
_NO_SINGLE_QUOTES = frozenset({"clojure", "haskell", "lisp", "markdown", "ocaml", "plaintext", "rust", "scheme"})


class BracketScanner:
    """`open`: the closers that are missing, the innermost last. `quote`, `triple`: the open quote or ""."""

    def __init__(self, language: str = "") -> None:
        self.open: list[str] = []
        self.quote = ""
        self.triple = ""
        self._quotes = '"`' if language in _NO_SINGLE_QUOTES else "\"'`"
        self._escaped = False
        self._previous = ""
        self._run = 0  # equal characters in a row

    @property
    def in_text(self) -> bool:
        """Inside quotes, where brackets mean nothing."""
        return bool(self.quote or self.triple)

    def closes_quote(self, char: str) -> bool:
        """Whether `char`, coming next, ends the open quote."""
        return bool(self.quote) and char == self.quote and not self._escaped

    def take(self, char: str) -> None:
        """Any character but a line end."""
        if self._escaped:
            self._escaped = False
            return
        self._run = self._run + 1 if char == self._previous else 1
        self._previous = char
        if char == "\\" and self.in_text:
            self._escaped = True
        elif char in self._quotes:
            self._take_quote(char)
        elif self.in_text:
            return
        elif char in PAIRS:
            self.open.append(PAIRS[char])
        elif char in CLOSERS and self.open:
            self.open.pop()

    def end_line(self) -> None:
        self.quote = self._previous = ""
        self._escaped = False

    def _take_quote(self, char: str) -> None:
        if self._run == 3 and not (self.triple and char != self.triple):
            self.triple = "" if self.triple else char
            self.quote = self._previous = ""  # three more are needed for the next
        elif self.triple:
            return
        elif self.quote == char:
            self.quote = ""
        elif not self.quote:
            self.quote = char
