"""How the demonstration is painted: live on a terminal, else one line for each key. Knows nothing of engines."""

import asyncio
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from bench.keystrokes import Keystroke
from bench.report import report
from completion_server.protocol import State

GHOST = "italic bright_black"
PACE = 0.04  # seconds a key stays on the screen, or a person could not follow
_LINES_AFTER = 3
_LEAST_CODE = 4  # lines of code before the cursor's that are shown on the smallest terminal
_ROWS = 8
_SMALL = 30  # lines of a terminal that has room for half as many rows
_WIDTH = 80  # of a suggestion on one line

_CONNECT = """\
VS Code   cd {clients}/vscode && npm ci && npm run package
          code --install-extension dist/foretype.vsix

Neovim    vim.opt.runtimepath:append('{clients}/neovim')
          require('foretype').setup{{ cmd = {{ '{foretype}', 'lsp' }} }}

Others    any LSP 3.18 client: {foretype} lsp"""

_CLIENTS = Path(__file__).parents[1] / "editor-clients"


_OUTCOMES = {"from-cache": "typed through", "empty": "nothing to show"}


def how_to_connect() -> str:
    """Two lines for each editor, with the path of this installation: it is rarely on PATH."""
    return _CONNECT.format(foretype=Path(sys.executable).with_name("foretype"), clients=_CLIENTS)


class Screen(Protocol):
    """Two of them: `LiveScreen` and `PlainScreen`. Entered once, left before `summary`."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def loading(self, state: State) -> None: ...
    async def key(self, before: str, after: str, keystroke: Keystroke) -> None: ...
    def summary(self, keystrokes: Sequence[Keystroke]) -> None: ...


class PlainScreen:
    """For pipes and logs: nothing moves."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._count = 0
        self._said = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    def loading(self, state: State) -> None:
        line = f"{state.phase}: {state.detail}" if state.detail else state.phase
        if line != self._said:
            self._said = line
            self._print(line)

    async def key(self, before: str, after: str, keystroke: Keystroke) -> None:  # noqa: ARG002 - one line is enough
        self._count += 1
        line = before[before.rfind("\n") + 1 :]
        ghost = keystroke.text.replace("\n", "⏎")
        if len(ghost) > _WIDTH:
            ghost = ghost[: _WIDTH - 1] + "…"
        self._print(f"{self._count:>3} {in_words(keystroke)}  {line}«{ghost}»")

    def summary(self, keystrokes: Sequence[Keystroke]) -> None:
        self._console.print(summary_table(keystrokes))
        self._print(how_to_connect())

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class LiveScreen:
    """For a terminal: the code, the ghost text at the cursor, and the last keys with their numbers."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._frame = Frame(console.size.height)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, traceback)

    def loading(self, state: State) -> None:
        bar = ProgressBar(total=1.0, completed=state.fraction or 0.0, pulse=state.fraction is None, width=40)
        self._paint(Group(Text(state.detail or state.phase), bar))

    async def key(self, before: str, after: str, keystroke: Keystroke) -> None:
        self._paint(self._frame.after(before, after, keystroke))
        await asyncio.sleep(PACE)

    def summary(self, keystrokes: Sequence[Keystroke]) -> None:
        self._console.print(summary_table(keystrokes), Text(how_to_connect()))

    def _paint(self, what: RenderableType) -> None:
        self._live.update(what, refresh=True)


class Frame:
    """What is on a screen of `height` lines after a key: the code around the cursor, and the last keys' numbers."""

    def __init__(self, height: int) -> None:
        self._height = height
        self._rows: deque[tuple[str, ...]] = deque(maxlen=_ROWS if height >= _SMALL else _ROWS // 2)

    def after(self, before: str, after: str, keystroke: Keystroke) -> RenderableType:
        self._rows.append((repr(keystroke.key), *numbers(keystroke)))
        table = Table(box=None, padding=(0, 1), header_style="dim")
        for name in ("key", *COLUMNS):
            table.add_column(name, no_wrap=True)
        for row in self._rows:
            table.add_row(*row)
        room = self._height - (self._rows.maxlen or 0) - 4  # the panel's border, the table's head, the line below all
        return Group(Panel(code_with_ghost(before, after, keystroke.text, room)), table)


def code_with_ghost(before: str, after: str, ghost: str, room: int) -> Text:
    """About `room` lines around the cursor in colours, with `ghost` in grey where it would be inserted."""
    ghost_lines = ghost.splitlines(keepends=True)[: max(1, room - _LEAST_CODE - _LINES_AFTER)]
    shown = "".join(before.splitlines(keepends=True)[-max(_LEAST_CODE, room - _LINES_AFTER - len(ghost_lines)) :])
    below = "".join(after.splitlines(keepends=True)[:_LINES_AFTER]).rstrip("\n")
    code = Syntax("", "python", theme="ansi_dark").highlight(shown + below)
    head, tail = code[: len(shown)], code[len(shown) : len(shown) + len(below)]
    text = Text.assemble(head, Text("▏"), Text("".join(ghost_lines), style=GHOST), tail)
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


COLUMNS = ("answer", "after", "ttft", "cached", "computed", "drafted", "accepted")


def numbers(keystroke: Keystroke) -> tuple[str, ...]:
    """What one key cost, by `COLUMNS`: where the answer came from, times, tokens of the prompt and of the drafts."""
    trace = keystroke.trace
    outcome = _OUTCOMES.get(keystroke.outcome, keystroke.outcome)
    if not keystroke.by_engine:
        return (outcome, f"{keystroke.key_ms:.0f} ms", "", "", "", "", "")
    return (
        outcome,
        f"{keystroke.key_ms:.0f} ms",
        f"{trace['ttft_ms']:.0f} ms",
        *(str(trace[f"{name}_tokens"]) for name in COLUMNS[3:]),
    )


def in_words(keystroke: Keystroke) -> str:
    """The same on one line."""
    outcome, after, *rest = numbers(keystroke)
    named = (f"{name} {value}" for name, value in zip(COLUMNS[2:], rest, strict=True) if value)
    return "  ".join((outcome, after, *named))


def summary_table(keystrokes: Sequence[Keystroke]) -> Table:
    """All of it in a few lines."""
    figures = report(keystrokes)
    table = Table("", "p50", "p95", "p99", title=f"{figures['keystrokes']} keys, {figures['shown']} with a suggestion")
    for name, values in (
        ("key to suggestion, engine asked", figures["keystroke_to_suggestion_ms"]),
        ("first token (TTFT), same keys", figures["ttft_ms"]),
    ):
        table.add_row(name, *("–" if value is None else f"{value:.0f} ms" for value in values.values()))
    table.add_section()
    for name, label in (
        ("answered_by_engine", "keys that asked the engine"),
        ("from_cache", "keys that typed through what was shown"),
        ("cached_token_ratio", "share of prompt tokens that were cached"),
        ("draft_acceptance_rate", "share of drafted tokens that were accepted"),
        ("acceptance_length", "tokens gained per target pass"),
    ):
        value = figures[name]
        table.add_row(label, "–" if value is None else str(value))
    return table
