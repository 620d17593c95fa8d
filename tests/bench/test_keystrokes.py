"""What is sent for a session, in order."""

from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, MagicMock

from bench.keystrokes import type_sessions
from bench.typist import Session


async def test_the_cursor_is_told_of_and_rests_before_the_first_key() -> None:
    """else the first key at each place pays for all of its prompt, and p95 is nothing but that"""
    calls = MagicMock()
    calls.open.return_value = calls
    calls.suggest = AsyncMock()

    async def rest() -> None:
        calls.rest()

    session = Session(Path("a.py"), "def f():\n    ", "\n", ("x",))
    editor: Any = calls
    assert [keystroke.key async for keystroke in type_sessions(editor, [session], rest)] == ["x"]
    assert [name for name, *_ in calls.method_calls] == ["open", "move", "look", "rest", "insert", "suggest", "close"]
    calls.move.assert_called_once_with(1, 4)
