"""`python -m bench.picture FILE.svg`: the picture in the README, painted by the demonstration as it runs.

What is shown is one moment of a real run on the embedded model: the code, the ghost text, the last keys with their
numbers. Knows nothing of engines.
"""

import asyncio
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console

from bench import demo
from bench.keystrokes import Keystroke
from bench.screen import Frame
from completion_server.protocol import State

KEYS = 64
WIDTH, HEIGHT = 104, 34


class PictureScreen:
    """Keeps the last frame whose suggestion is of at least two lines, or else the last one with any."""

    def __init__(self) -> None:
        self._frame = Frame(HEIGHT)
        self._console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
        self._lines = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    def loading(self, state: State) -> None:
        """Not in the picture."""

    async def key(self, before: str, after: str, keystroke: Keystroke) -> None:
        painted = self._frame.after(before, after, keystroke)
        lines = keystroke.text.count("\n") + bool(keystroke.text)
        if lines >= min(2, max(1, self._lines)):
            self._lines = lines
            self._console.export_text(clear=True)
            self._console.print(painted)

    def summary(self, keystrokes: Sequence[Keystroke]) -> None:
        """Not in the picture."""

    def svg(self) -> str:
        """The frame that was kept. Fonts from the network are left out: the picture fetches nothing."""
        return re.sub(r"@font-face \{.*?\}", "", self._console.export_svg(title="foretype demo"), flags=re.DOTALL)


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m bench.picture FILE.svg\n")
        return 2
    screen = PictureScreen()
    asyncio.run(demo.show(screen, demo.scene(KEYS)))
    Path(arguments[0]).write_text(screen.svg(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
