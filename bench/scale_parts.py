"""The parts of `bench.scale`: each types the same keys into documents of several sizes. Sizes take turns within a part.

Knows nothing of what is made of the keys.
"""

import asyncio
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from bench.keystrokes import Keystroke
from bench.places import around, in_lines, with_before
from bench.private_engine import PrivateEngine
from bench.scale_report import Beside
from bench.typist import Session, Source
from bench.writer import WARM_UP, Writer, at_a_pace, in_turn, together
from lsp.headless import HeadlessEditor

FILE_LINES = (500, 5_000, 50_000)
CONTEXT_TOKENS = (500, 1_000, 2_000, 4_000)
OPEN_DOCUMENTS = (1, 4, 16)
EDITORS = (1, 2, 4)

MAX_TOKENS = 16  # of a suggestion, and one line: enough to see what a token costs, and a person types on soon
PACE = 0.7  # seconds between an answer and the next key that asks: at four keys a second most are typed through
BURST = 5  # keys of each number of editors in turn
SHORT = 90  # lines before the cursor where the size is about something else
SHORTEST = 40  # where most keys are cold: more documents are open than there are slots
BELOW = 150  # lines behind it
COLD_PROMPTS = 3
COLD_TOKENS = 4_000
COLD_KEYS = 4  # beside each cold prompt
_CALIBRATION = 6_000  # characters, to see how many a token has
_READY_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """`place` has more keys than any part types."""

    place: Session
    sources: Sequence[Source]
    keys: int
    seed: int


class Parts:
    """On one private engine. Editors, and with them language servers, are started by `editor` and end with `stack`."""

    def __init__(self, engine: PrivateEngine, plan: Plan, stack: AsyncExitStack) -> None:
        self._engine = engine
        self._plan = plan
        self._stack = stack
        self._dice = random.Random(plan.seed)

    async def by_file_lines(self) -> dict[str, list[Keystroke]]:
        plan, editor = self._plan, await self._editor()
        writers = {}
        for lines in FILE_LINES:
            session = in_lines(plan.place, lines, plan.sources, plan.seed)
            writers[str(lines)] = Writer(editor, session, f"lines_{lines}.py")
        return await in_turn(writers, plan.keys)

    async def by_context_tokens(self) -> dict[str, list[Keystroke]]:
        editor = await self._editor()
        per_token = await self._characters_per_token(editor)
        writers = {}
        for tokens in CONTEXT_TOKENS:
            session = self._of_length(f"context {tokens}", int(per_token * tokens))
            writers[str(tokens)] = Writer(editor, session, f"context_{tokens}.py")
        return await in_turn(writers, self._plan.keys)

    async def by_open_documents(self) -> dict[str, list[Keystroke]]:
        """One size after the other: documents that take turns with more of them would lose their slots to those."""
        found: dict[str, list[Keystroke]] = {}
        editor = await self._editor()
        length = len(around(self._plan.place, SHORTEST, 0).before)
        for count in OPEN_DOCUMENTS:
            names = [f"document_{count}_{number}.py" for number in range(count)]
            writers = {name: Writer(editor, self._session(name, length), name) for name in names}
            keys = await in_turn(writers, max(1, self._plan.keys // count))
            found[str(count)] = [key for each in keys.values() for key in each]
            for writer in writers.values():
                writer.close()
        return found

    async def by_editors(self) -> dict[str, list[list[Keystroke]]]:
        """The keys of each editor."""
        editors = [await self._editor() for _ in range(max(EDITORS))]
        writers: dict[int, list[Writer]] = {}
        for count in EDITORS:
            names = [f"editor_{count}_{number}.py" for number in range(count)]
            writers[count] = [Writer(e, self._session(n), n) for e, n in zip(editors, names, strict=False)]
            for writer in writers[count]:
                await writer.warm_up()
        found: dict[str, list[list[Keystroke]]] = {str(count): [[] for _ in range(count)] for count in EDITORS}
        for _ in range(max(1, self._plan.keys // BURST)):
            for count in EDITORS:
                burst = await together(writers[count], BURST, PACE, self._dice)
                for keys, more in zip(found[str(count)], burst, strict=True):
                    keys += more
        return found

    async def cold_beside_warm(self) -> Beside:
        """Keys of a warm document, each alone and while another editor's cold prompt is being fed."""
        typing, other = await self._editor(), await self._editor()
        length = int(COLD_TOKENS * await self._characters_per_token(other))
        cold = [await self._ask_cold(other, "alone", length)]
        writers = [Writer(typing, self._session(name), f"{name}.py") for name in ("alone", "beside")]
        for writer in writers:
            await writer.warm_up()
        pairs = []
        for number in range(COLD_PROMPTS):
            alone = await at_a_pace(writers[0], COLD_KEYS, PACE / 2, self._dice)
            task = asyncio.create_task(self._ask_cold(other, f"beside {number}", length))
            for key in alone:
                (beside,) = await at_a_pace(writers[1], 1, PACE / 2, self._dice)
                if not task.done():  # else the key may have had the engine for itself
                    pairs.append((key, beside))
            await task
        return Beside(pairs, cold)

    # -- documents and editors -----------------------------------------------------------------------------------------

    def _session(self, title: str, characters: int = 0, below: int = BELOW) -> Session:
        """The place behind so many characters (default: `SHORT` lines), in a document that begins like no other."""
        place = self._plan.place
        near = around(place, SHORT, below)
        return with_before(replace(near, before=place.before), characters or len(near.before), title)

    def _of_length(self, title: str, characters: int) -> Session:
        """One whose prompt is `characters` long: nothing stands below, of which a model may read some as well."""
        return self._session(title, characters, below=0)

    async def _characters_per_token(self, editor: HeadlessEditor) -> float:
        writer = Writer(editor, self._of_length("calibration", _CALIBRATION), "calibration.py")
        key = await writer.key()
        writer.close()
        return _CALIBRATION / max(1, int(key.trace["prompt_tokens"]))

    async def _ask_cold(self, editor: HeadlessEditor, title: str, length: int) -> Keystroke:
        writer = Writer(editor, self._of_length(f"cold {title}", length), f"cold_{title.replace(' ', '_')}.py")
        key = await writer.key()
        writer.close()
        return key

    async def _editor(self) -> HeadlessEditor:
        options = {"max_tokens": MAX_TOKENS, "max_lines": 1, "engine": {"start": False}}
        editor = HeadlessEditor(options, environment=self._engine.environment)
        await self._stack.enter_async_context(editor)
        await editor.wait_ready(_READY_TIMEOUT)
        return editor


def keys_needed(keys: int) -> int:
    """Keys that a place must have for every part."""
    return max(keys + BURST, COLD_PROMPTS * COLD_KEYS) + WARM_UP
