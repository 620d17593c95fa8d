"""What Neovim paints: the grid of cells that a user interface gets (`:help ui-linegrid`), frame by frame. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

GHOST_COLOUR: Final = 0x123456
"""Foreground by which ghost text is told from the document's: the editor is told to paint it so."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The screen at one moment. `ghost` are the parts of `rows` that are ghost text, "" where there are none."""

    at: float  # perf_counter, when it was received
    rows: tuple[str, ...]
    ghost: tuple[str, ...]
    cursor: tuple[int, int]  # row, column

    @property
    def ghost_text(self) -> str:
        """All ghost text, lines parted by line ends, without the space on the right."""
        lines = [line.rstrip() for line in self.ghost]
        shown = [number for number, line in enumerate(lines) if line]
        return "\n".join(lines[shown[0] : shown[-1] + 1]) if shown else ""


class Screen:
    """Takes the events of `redraw` notifications in order."""

    def __init__(self, width: int, height: int) -> None:
        self._width = width
        self._cells = [[(" ", 0)] * width for _ in range(height)]
        self._ghost_ids: set[int] = set()
        self._cursor = (0, 0)

    def take(self, events: Sequence[Sequence[Any]], at: float) -> list[Frame]:
        """The frames that were finished by these events."""
        frames = []
        for name, *calls in events:
            if name == "flush":
                frames.append(self._frame(at))
                continue
            handler = getattr(self, f"_on_{name}", None)
            if handler is not None:
                for call in calls:
                    handler(*call)
        return frames

    def _frame(self, at: float) -> Frame:
        rows = tuple("".join(text for text, _ in row) for row in self._cells)
        ghost = tuple("".join(text for text, style in row if style in self._ghost_ids) for row in self._cells)
        return Frame(at, rows, ghost, self._cursor)

    def _on_hl_attr_define(self, style: int, colours: Mapping[str, Any], *_: Any) -> None:
        self._ghost_ids.discard(style)
        if colours.get("foreground") == GHOST_COLOUR:
            self._ghost_ids.add(style)

    def _on_grid_resize(self, _grid: int, width: int, height: int) -> None:
        self._width = width
        self._cells = [[(" ", 0)] * width for _ in range(height)]

    def _on_grid_clear(self, _grid: int) -> None:
        self._cells = [[(" ", 0)] * self._width for _ in self._cells]

    def _on_grid_cursor_goto(self, _grid: int, row: int, column: int) -> None:
        self._cursor = (row, column)

    def _on_grid_line(self, _grid: int, row: int, column: int, cells: Sequence[Sequence[Any]], *_: Any) -> None:
        style = 0
        for text, *rest in cells:
            style = rest[0] if rest else style
            for _repeat in range(rest[1] if len(rest) > 1 else 1):
                self._cells[row][column] = (text, style)  # "" is the right half of a wide character
                column += 1

    def _on_grid_scroll(
        self, _grid: int, top: int, bottom: int, left: int, right: int, rows: int, _columns: int
    ) -> None:
        order = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in order:
            self._cells[row][left:right] = self._cells[row + rows][left:right]
