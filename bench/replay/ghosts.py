"""What is suggested on the screen at the cursor, and what becomes of it. A state machine without a clock or an editor.

What counts as shown, accepted and typed through is what `lsp.events` says, the same as in an editor's own numbers.
"""

from itertools import count

from lsp.events import Event, Fate

_UNKNOWN = 0.0


class Ghosts:
    """One suggestion at a time. Times are seconds of any clock. `events` are what became of those that are over."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.text = ""  # that is left of it
        self._since = _UNKNOWN
        self._fate: Fate | None = None
        self._typed = 0
        self._ids = count(1)

    def seen_ms(self, now: float) -> float:
        """For how long the suggestion has been there, however much of it was typed meanwhile; 0 without one."""
        return 1e3 * (now - self._since) if self.text else 0.0

    def answered(self, text: str, now: float) -> None:
        """The newest key was answered with `text`; empty: nothing is to be shown."""
        if text == self.text:
            return
        self.gone(now)
        if text:
            self.text, self._since, self._typed = text, now, 0
            self._fate = Fate(f"g{next(self._ids)}", "")
            self._fate.length = len(text)
            self._fate.show(now)

    def typed(self, text: str, now: float) -> None:
        """A key put in `text`: what is suggested shrinks by it, or is gone."""
        if self._fate is None or not self.text.startswith(text):
            self.gone(now)
            return
        self._typed += len(text)
        self.events += self._fate.type(now, self._typed)
        self._shrink(text)

    def accepted(self, text: str, now: float) -> bool:
        """`text` was taken of what is suggested; False if that is not its head, as may be in a trace of another run."""
        if self._fate is None or not self.text.startswith(text):
            self.gone(now)
            return False
        left = len(self.text) - len(text)
        fate = self._fate
        self.events += fate.take(now, fate.length - left) if left else fate.accept(now)
        self._shrink(text)
        return True

    def gone(self, now: float) -> None:
        """The text or the cursor moved otherwise."""
        if self._fate is not None:
            self.events += self._fate.end(now)
        self.text, self._fate = "", None

    def _shrink(self, text: str) -> None:
        self.text = self.text[len(text) :]
        if not self.text:
            self._fate = None
