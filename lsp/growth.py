"""The rest of a suggestion whose head a client was sent already: append-only, with exactly one end.

Holds back until the reply with the head is out. Knows nothing of engines, documents or LSP.
"""

from collections.abc import Callable

from completion_server.protocol import Usage

Send = Callable[[str, bool], None]
"""Takes text that goes behind what the client has, and whether it is the last."""


class Growth:
    """`given` is what the client has, from where the suggestion began, what was typed through included."""

    def __init__(self, given: str, send: Send) -> None:
        self.given = given
        self.when_over: Callable[[Usage | None], None] | None = None  # told once, with what all of it cost
        self._send = send
        self._begun = False
        self._held = ""
        self._over = False
        self._usage: Usage | None = None

    def begin(self) -> None:
        """The client has its reply."""
        if not self._begun:
            self._begun = True
            self._flush()

    def more(self, whole: str) -> None:
        """The suggestion is `whole` by now. What contradicts what the client has is not sent: nothing is taken back."""
        if not self._over and whole.startswith(self.given):
            self._held += whole[len(self.given) :]
            self.given = whole
            self._flush()

    def end(self, whole: str | None = None, usage: Usage | None = None) -> None:
        """Nothing more will come; `whole` as for `more`."""
        if self._over:
            return
        if whole is not None and whole.startswith(self.given):
            self._held += whole[len(self.given) :]
            self.given = whole
        self._over, self._usage = True, usage
        self._flush()

    def give_way(self) -> None:
        """A newer reply has taken all of it: say nothing more, not even an end."""
        self._over, self._held = True, ""
        self._begun = True

    def _flush(self) -> None:
        if not self._begun or not (self._held or self._over):
            return
        held, self._held = self._held, ""
        self._send(held, self._over)
        if self._over and self.when_over is not None:
            self.when_over(self._usage)
