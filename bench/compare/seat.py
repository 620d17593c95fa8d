"""One pair at work: a private engine, an editor without a screen, and its turns, one after the other.

Of a turn that is broken off nothing is kept, so that what two pairs have done can be laid side by side.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

import psutil  # type: ignore[import-untyped]

from bench.compare.measured import Decoded, Measured
from bench.compare.plan import Decoding, Judging, Turn, Typing
from bench.keystrokes import type_sessions
from bench.private_engine import PrivateEngine
from bench.quality.asking import EditedFile
from bench.quality.scores import score
from completion_server.protocol import Context, Limits, State
from lsp.headless import HeadlessEditor

READY_TIMEOUT = 60.0  # seconds for the language server to find an engine that is ready already
TOKENS = 48  # of a continuation without an editor


class Seat:
    """Use as `async with Seat(measured, command) as seat`: inside, the models are loaded.

    What comes of it goes into `measured`. Raises `ForetypeError` where the pair cannot be loaded or used.
    """

    def __init__(
        self, measured: Measured, command: Sequence[str], on_state: Callable[[State], None], on_step: Callable[[], None]
    ) -> None:
        self.measured = measured
        self._command = command
        self._on_state = on_state
        self._on_step = on_step
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        measured = self.measured
        async with AsyncExitStack() as stack:
            began = time.monotonic()
            engine = PrivateEngine(measured.name, command=self._command, on_state=self._on_state)
            self._engine = await stack.enter_async_context(engine)
            measured.load_s = round(time.monotonic() - began, 2)
            editor = HeadlessEditor({"engine": {"start": False}}, environment=self._engine.environment)
            self._editor = await stack.enter_async_context(editor)
            await self._editor.wait_ready(READY_TIMEOUT)
            measured.status = await self._engine.status()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def take(self, turn: Turn) -> None:
        """Do it, and keep what came of it."""
        match turn:
            case Typing():
                await self._type(turn)
            case Judging():
                await self._judge(turn)
            case Decoding():
                await self._decode(turn)
        self._see_memory()

    async def _type(self, turn: Typing) -> None:
        await self._engine.settled()  # so that what it waits for below is the prefill of the document it opens
        keystrokes, before = [], (await self._engine.status()).wasted_tokens
        async for keystroke in type_sessions(self._editor, [turn.session], self._engine.settled):
            keystrokes.append(keystroke)
            self._on_step()
        self.measured.typed.append(keystrokes)
        self.measured.wasted_tokens += (await self._engine.status()).wasted_tokens - before

    async def _judge(self, turn: Judging) -> None:
        scores, file = [], EditedFile(self._editor, turn.cursors[0])
        for cursor in turn.cursors:
            answered = await file.ask(cursor)
            scores.append(score(cursor, answered.text, answered.replaced))
            self._on_step()
        file.close()
        self.measured.judged.append(scores)

    async def _decode(self, turn: Decoding) -> None:
        """As `bench.engine` does: keys and values of the prompt are there, but no suggestion to draft from."""
        client = self._engine.client
        context = Context("bench", 1, turn.prompt, "\n")
        await client.warm(context)
        result = await client.complete(context, limits=Limits(TOKENS, max_lines=TOKENS), raw=True)
        await client.close_document("bench")
        self.measured.decoded.append(Decoded(len(result.text), result.usage))
        self._on_step()

    def _see_memory(self) -> None:
        try:
            now = psutil.Process(self._engine.client.pid).memory_info().rss
        except psutil.Error:
            return
        self.measured.memory_bytes = max(now, self.measured.memory_bytes or 0)
