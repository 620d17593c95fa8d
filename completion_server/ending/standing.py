"""The text of a suggestion in three states: what stands, what is held until it is known whether it will, what is cut.

Knows where lines and statements end in it. It does not decide anything.
"""


class Standing:
    """Takes a suggestion's characters. What stands only grows, until a `cut` ends it."""

    def __init__(self) -> None:
        self._stands: list[str] = []
        self._held: list[str] = []  # white space, and lines that may turn out to be a loop
        self._line_ends: list[int] = []  # lengths of the text up to the end of a line
        self._wholes = [0]  # lengths of the text up to a line that ends a statement

    def __len__(self) -> int:
        return len(self._stands)

    def since(self, length: int) -> str:
        """What stands behind its first `length` characters."""
        return "".join(self._stands[length:])

    def hold(self, char: str) -> None:
        self._held.append(char)

    def release(self, *, space: bool = True) -> None:
        """What was held stands; without `space`, the white space at its end stays held."""
        held = "".join(self._held)
        text = held if space else held.rstrip()
        self._stands += text
        self._held = list(held[len(text) :])

    def drop(self) -> None:
        """What was held will not stand."""
        self._held = []

    def end_line(self, *, whole: bool) -> None:
        """A line with text has ended, `whole` if a statement has with it; what is held counts."""
        end = len(self._stands) + len("".join(self._held).rstrip())
        self._line_ends.append(end)
        if whole:
            self._wholes.append(end)

    @property
    def end_of_line_before(self) -> int | None:
        """Where the line before the last one ended, if there is one."""
        return self._line_ends[-2] if len(self._line_ends) > 1 else None

    def cut(self, end: int) -> None:
        """Take back what stands behind `end`, and what of a statement is left half."""
        self._stands = list("".join(self._stands)[:end].rstrip())
        self.keep_whole()

    def keep_whole(self) -> None:
        """Half a statement at the end is worth nothing beside whole ones, nor is half a line beside whole lines."""
        length = len(self._stands)
        whole = max(end for end in self._wholes if end <= length)
        if not whole and length not in self._line_ends:
            whole = max((end for end in self._line_ends if end <= length), default=0)
        if whole:
            self._stands = self._stands[:whole]
