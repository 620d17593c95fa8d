"""The closers around a cursor: those that stand behind it on its line, and those that its line still needs.

A suggestion that writes one of them either completes what the person began, or says again what stands there already.
"""

from completion_server.ending.brackets import CLOSERS, BracketScanner

_BEHIND = CLOSERS | frozenset("\"'` \t")


class Closers:
    """`line` and `rest` are the cursor's line in front of the cursor and behind it, `below` what follows that line.

    `rest` is empty where text stands behind the cursor, beyond which nothing is written anyway. `beyond` says that the
    suggestion has written a closer of `rest` again: then it goes on behind all of them.
    """

    def __init__(self, line: BracketScanner, rest: str, below: str) -> None:
        self.beyond = False
        self._below = below
        self._rest = rest
        self._left = [char for char in rest if char in CLOSERS]  # of the rest, not yet written
        self._needed = _without(line.open, self._left)  # opened on the cursor's line, closed nowhere
        self._in_quote = bool(line.quote)  # which was open at the cursor and still is
        self._one_line = self._in_quote
        self._may_go_beyond = bool(rest) and _BEHIND.issuperset(rest)
        self._block = False  # behind the closers a block began that ends by its indentation

    @property
    def any_left(self) -> bool:
        return bool(self._needed or self._left)

    @property
    def any_needed(self) -> bool:
        return bool(self._needed)

    def needs(self, closer: str) -> bool:
        return self._needed[-1:] == [closer]

    def stands_behind(self, closer: str) -> bool:
        return closer in self._left

    def stands_below(self, closer: str) -> bool:
        return self._below.startswith(closer)

    def write_needed(self) -> None:
        self._needed.pop()

    def goes_beyond(self, closer: str) -> bool:
        """Whether an outer closer is the next of those behind the cursor, which are then written up to the last."""
        if not self._may_go_beyond or self._left[:1] != [closer]:
            return False
        del self._left[0]
        self.beyond = True
        return True

    def take_quote(self, scanner: BracketScanner) -> None:
        """A character was written: the quote of the cursor may have ended with it."""
        self._in_quote = self._in_quote and bool(scanner.quote)

    def closes_quote(self, char: str, scanner: BracketScanner) -> bool:
        """Whether `char`, coming next, is the quote behind the cursor."""
        return self._in_quote and self._rest.startswith(char) and scanner.closes_quote(char)

    def ends_at_quote(self) -> bool:
        """Whether the suggestion ends before it writes that quote again; else it goes on behind it."""
        self.beyond = self.beyond or self._may_go_beyond
        return not self._may_go_beyond

    def ends_with_line(self, line: str, scanner: BracketScanner) -> bool:
        """Whether `line`, which ends, is the last one because of what stands behind the cursor."""
        if not self.beyond:
            return bool(self._rest) and not self._left
        if self._left or self._one_line:
            return True
        self._block = self._block or line.rstrip().endswith(":")
        return not scanner.open and not self._block


def _without(closers: list[str], taken: list[str]) -> list[str]:
    """`closers`, the innermost last, less those in `taken`, of which the innermost goes first."""
    left = closers.copy()
    for closer in taken:
        for index in reversed(range(len(left))):
            if left[index] == closer:
                del left[index]
                break
    return left
