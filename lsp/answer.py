"""What one request of a client is answered with. Positions are in code points; knows nothing of LSP."""

from dataclasses import dataclass
from typing import Literal

from completion_server.protocol import Usage
from lsp.context import plain
from lsp.errand import Errand
from lsp.growth import Growth
from lsp.text import Position

Outcome = Literal[
    "engine",  # computed for this request
    "from-cache",  # the rest of an earlier one
    "growing",  # the head of what is being computed; the rest follows
    "grown",  # of a trace alone: the rest has followed
    "empty",  # computed, and nothing of it is worth showing
    "unsure",  # computed, and not likely enough to be what the person wants
    "excluded",  # a secret
    "unwanted",  # see `gate`
    "loading",
    "unavailable",
    "superseded",
    "stale",  # the document moved on
    "cancelled",
    "error",
]


@dataclass(frozen=True, slots=True)
class Ghost:
    """One suggestion as it is to be shown: `text` in place of the first `replace` code points behind the cursor.

    `anchor` is where the suggestion began, `typed` what of it has been typed through since, with `\\n` line ends.
    """

    id: str
    text: str
    anchor: Position
    replace: int = 0
    typed: str = ""
    confidence: float = 0.0  # that its first line is right

    @property
    def whole(self) -> str:
        """From the anchor to the end, with `\\n` line ends."""
        return self.typed + plain(self.text)


@dataclass(frozen=True, slots=True)
class Answer:
    """`ghosts` go in at `position` of `version`, with the document's own line ends; none: show nothing.

    `growth` is begun once the client has its reply. `errand` is there where words of the engine are answered with.
    """

    outcome: Outcome
    version: int
    position: Position
    ghosts: tuple[Ghost, ...] = ()
    usage: Usage | None = None
    growth: Growth | None = None
    errand: Errand | None = None

    @property
    def text(self) -> str:
        """Of the first ghost; empty without one."""
        return self.ghosts[0].text if self.ghosts else ""
