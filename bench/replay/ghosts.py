"""What is suggested on the screen at the cursor, and what becomes of it. A state machine without a clock or an editor.

What counts as shown, accepted and typed through is what `lsp.events` says, the same as in an editor's own numbers.
"""

from typing import Protocol

from lsp.events import Event, Fate


class Watcher(Protocol):
    """Is told what an editor's client tells its language server of the suggestion `own_id`."""

    def shown(self, own_id: str) -> None: ...
    def typed(self, own_id: str, typed: int) -> None: ...
    def accepted(self, own_id: str) -> None: ...
    def partly_accepted(self, own_id: str, reached: int) -> None: ...
    def replaced(self, own_id: str) -> None: ...


class Ghosts:
    """One suggestion at a time. Times are seconds of any clock. `events` are what became of those that are over."""

    def __init__(self, watcher: Watcher | None = None) -> None:
        self.events: list[Event] = []
        self._watcher = watcher
        self.text = ""  # that is left of it
        self._since = 0.0
        self._fate: Fate | None = None
        self._typed = 0

    def seen_ms(self, now: float) -> float:
        """For how long the suggestion has been there, however much of it was typed meanwhile; 0 without one."""
        return 1e3 * (now - self._since) if self.text else 0.0

    def answered(self, text: str, now: float, own_id: str = "") -> None:
        """The newest key was answered with `text`, which the server calls `own_id`; empty: nothing is to be shown."""
        if self._fate is not None and own_id == self._fate.id and text.startswith(self.text):
            self._fate.length += len(text) - len(self.text)  # it grew meanwhile
            self.text = text
        if text == self.text:
            return
        self.gone(now)
        if text:
            self.text, self._since, self._typed = text, now, 0
            self._fate = Fate(own_id, "")
            self._fate.length = len(text)
            self._fate.show(now)
            if self._watcher is not None:
                self._watcher.shown(own_id)

    def typed(self, text: str, now: float) -> None:
        """A key put in `text`: what is suggested shrinks by it, or is gone."""
        if self._fate is None or not self.text.startswith(text):
            self.gone(now)
            return
        self._typed += len(text)
        self.events += self._fate.type(now, self._typed)
        if self._watcher is not None:
            self._watcher.typed(self._fate.id, self._typed)
        self._shrink(text)

    def accepted(self, text: str, now: float) -> bool:
        """`text` was taken of what is suggested; False if that is not its head, as may be in a trace of another run."""
        if self._fate is None or not self.text.startswith(text):
            self.gone(now)
            return False
        left = len(self.text) - len(text)
        fate = self._fate
        self.events += fate.take(now, fate.length - left) if left else fate.accept(now)
        if self._watcher is not None and left:
            self._watcher.partly_accepted(fate.id, fate.length - left)
        elif self._watcher is not None:
            self._watcher.accepted(fate.id)
        self._shrink(text)
        return True

    def gone(self, now: float) -> None:
        """The text or the cursor moved otherwise."""
        if self._fate is not None:
            self.events += self._fate.end(now)
            if self._watcher is not None:
                self._watcher.replaced(self._fate.id)
        self.text, self._fate = "", None

    def _shrink(self, text: str) -> None:
        self.text = self.text[len(text) :]
        if not self.text:
            self._fate = None
