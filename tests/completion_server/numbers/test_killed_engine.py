"""Engines that are killed in the middle of typing: all that was answered a second before is in the store.

Real are the language server, which keeps what it has to tell for a moment, the engine's process, its writer, and the
next engine, which goes on with the same store.
"""

import asyncio
import json
import random
import sqlite3
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

from typer.testing import CliRunner

from bench.keystrokes import Keystroke, type_sessions
from bench.typist import Source, sessions
from completion_server import cli
from completion_server.folders import numbers_file
from lsp.headless import HeadlessEditor
from lsp.languages import language_of

SOON = 120.0
FAILED = ("error", "unavailable", "loading")
SUFFIXES = (".py", ".js", ".go", ".rs", ".java", ".rb", ".lua", ".kt", ".php", ".c")
"""One a round: the language of a row tells which round it is of."""

TEXT = "".join(f"line {number} of what is typed, and a few words more\n" for number in range(120))

SCRIPTED = """
import asyncio
from completion_server.folders import numbers_file
from completion_server.numbers.recording import recording
from completion_server.scripted import Rule, ScriptedBackend
from completion_server.server import serve
from completion_server.settings import EngineSettings
backend = ScriptedBackend(lambda request: Rule("y", delay_ms=15))
asyncio.run(serve(
    backend, pair="scripted", recording=lambda: recording(EngineSettings(), numbers_file(), backend.snapshot)
))
"""


async def test_ten_killed_engines_have_lost_the_last_second_at_most() -> None:
    async with HeadlessEditor({"engine": {"start": False}}) as editor:
        for number, suffix in enumerate(SUFFIXES):
            await typed_until_killed(editor, [sys.executable, "-c", SCRIPTED], suffix, seed=number)


async def test_a_killed_engine_with_a_model_has_lost_the_last_second_at_most(embedded_model: Path) -> None:
    command = [sys.executable, "-m", "completion_server", "serve", "--pair", "embedded"]
    async with HeadlessEditor({"engine": {"start": False}}) as editor:
        await typed_until_killed(editor, command, ".py", seed=1)


async def typed_until_killed(editor: HeadlessEditor, command: Sequence[str], suffix: str, seed: int) -> None:
    """Start an engine, type, kill it at a moment that the seed chooses, and look at what it left."""
    path = Path(f"typed{suffix}")
    language = language_of(path)
    answered: list[tuple[float, Keystroke]] = []
    async with asyncio.timeout(SOON), engine(command) as process:
        killing: asyncio.Task[float] | None = None
        async for key in type_sessions(editor, sessions([Source(path, TEXT)], 5_000, seed), _at_once):
            if not key.failed:
                answered.append((time.time(), key))
                killing = killing or asyncio.create_task(_kill(process, random.Random(seed).uniform(1.2, 2.0)))
            elif killing is not None and killing.done():
                break
            else:
                await asyncio.sleep(0.02)  # between keys: the engine, or the way to it, is not there yet
        assert killing is not None
        killed = await killing
    due = [key for when, key in answered if killed - when >= 1.0]
    assert due  # or nothing would be shown

    told = json.loads(CliRunner().invoke(cli.build(), ["stats", "--json", "--by", "language"]).output)
    with closing(sqlite3.connect(numbers_file())) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        requests = connection.execute("SELECT prompt_tokens FROM requests WHERE language = ?", (language,)).fetchall()
        keys = connection.execute("SELECT outcome FROM keys WHERE language = ?", (language,)).fetchall()
    # By its script an engine takes each character for a token, so that the length of its prompt names a request.
    assert {key.trace["prompt_tokens"] for key in due if key.by_engine} <= {tokens for (tokens,) in requests}
    assert len(due) <= sum(outcome not in FAILED for (outcome,) in keys)
    assert told["groups"][language]["keystrokes"] == len(keys)


async def _kill(process: Process, after: float) -> float:
    """When it was killed, in Unix seconds."""
    await asyncio.sleep(after)
    killed = time.time()
    process.kill()
    await process.wait()
    return killed


async def _at_once() -> None:
    """Nobody looks at a file before they type."""


@asynccontextmanager
async def engine(command: Sequence[str]) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
