"""`foretype demo`: a real file is typed into, a real model suggests, and you see what an editor would show.

The whole path runs: an engine process of our own with the embedded model, the language server as an editor starts it,
and an editor without a screen that types. Knows nothing of how it is painted.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.editor import editor_on
from bench.keystrokes import Keystroke, type_sessions
from bench.private_engine import PrivateEngine
from bench.screen import LiveScreen, PlainScreen, Screen
from bench.typist import Session, Source, session_at
from completion_server.errors import EngineUnavailable
from lsp.headless import HeadlessEditor

PAIR = "embedded"
FILE = Path(__file__).with_name("typist.py")
BEGIN = "def keys_of("
"""Where typing begins in `FILE`: what stands before is there already, and so is what follows the last key."""

KEYS = 90


def main(*, console: Console | None = None, keys: int = KEYS, engine_command: Sequence[str] = ()) -> None:
    """Run the demonstration. Raises `ForetypeError` with one line for a person if anything fails."""
    console = console or Console()
    screen: Screen = LiveScreen(console) if console.is_terminal else PlainScreen(console)
    try:
        asyncio.run(show(screen, scene(keys), engine_command))
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def scene(keys: int = KEYS) -> Session:
    """What is typed, and where."""
    text = FILE.read_text(encoding="utf-8")
    return session_at(Source(FILE, text), text.index(BEGIN), keys)


async def show(screen: Screen, session: Session, engine_command: Sequence[str] = ()) -> None:
    """Type `session` and paint it on `screen`. Raises `ForetypeError` with one line for a person."""
    keystrokes: list[Keystroke] = []
    with screen:
        async with (
            PrivateEngine(PAIR, command=engine_command, on_state=screen.loading) as engine,
            editor_on(engine) as editor,
        ):
            before = session.before
            async for keystroke in type_sessions(editor, [session], engine.settled):
                if keystroke.failed:
                    raise EngineUnavailable(_trouble(editor, keystroke))
                before += keystroke.key
                keystrokes.append(keystroke)
                await screen.key(before, session.after, keystroke)
        if not any(keystroke.text for keystroke in keystrokes):
            raise EngineUnavailable("the engine answered but suggested nothing; try `foretype doctor`")
    screen.summary(keystrokes)


def _trouble(editor: HeadlessEditor, keystroke: Keystroke) -> str:
    return editor.messages[-1] if editor.messages else f"a key was not answered ({keystroke.outcome}); try again"


if __name__ == "__main__":
    main()
