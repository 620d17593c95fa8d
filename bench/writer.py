"""Somebody whose every key asks the engine: nothing is typed through. Knows nothing of what is measured."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence

from bench.keystrokes import Keystroke, position
from bench.typist import Session
from lsp.headless import HeadlessEditor

WARM_UP = 2  # keys that are not counted: the first opens the document and finds nothing cached


class Writer:
    """Types the keys of `session` into a document of its own.

    Before each key a blank comes or goes at the very end of the document: an edit elsewhere ends the suggestions that
    could be typed through, and this one changes nothing that the model sees.
    """

    def __init__(self, editor: HeadlessEditor, session: Session, name: str) -> None:
        text = session.before + session.after
        self._buffer = editor.open(session.path, text if text.endswith("\n") else text + "\n", name=name)
        self._buffer.move(*position(session.before))
        self._keys: Iterator[str] = iter(session.keys)
        self._lines = text.count("\n")
        self._blank = False

    async def key(self) -> Keystroke:
        """Type the next key and wait for its answer. Behind the last one there is none: RuntimeError."""
        key = next(self._keys)
        self._edit_elsewhere()
        self._buffer.insert(key)
        self._lines += key.count("\n")
        suggestion = await self._buffer.suggest()
        return Keystroke(key, suggestion.text, suggestion.key_ms, suggestion.trace)

    async def warm_up(self) -> None:
        for _ in range(WARM_UP):
            await self.key()

    def close(self) -> None:
        self._buffer.close()

    def _edit_elsewhere(self) -> None:
        cursor = self._buffer.cursor
        self._buffer.move(self._lines, int(self._blank))
        if self._blank:
            self._buffer.delete_back()
        else:
            self._buffer.insert(" ")
        self._blank = not self._blank
        self._buffer.move(*cursor)


async def in_turn(writers: Mapping[str, Writer], keys: int) -> dict[str, list[Keystroke]]:
    """`keys` keys of each writer, one key of each at a time, so that a noisy moment hits all alike."""
    found: dict[str, list[Keystroke]] = {name: [] for name in writers}
    for writer in writers.values():
        await writer.warm_up()
    names = list(writers)
    for number in range(keys):
        first = number % len(names)  # nobody always follows the same neighbour
        for name in names[first:] + names[:first]:
            found[name].append(await writers[name].key())
    return found


async def at_a_pace(writer: Writer, keys: int, seconds: float, dice: random.Random) -> list[Keystroke]:
    """`keys` keys with pauses of `seconds` on average, from half to one and a half of it."""
    found = []
    for _ in range(keys):
        await asyncio.sleep(seconds * dice.uniform(0.5, 1.5))
        found.append(await writer.key())
    return found


async def together(writers: Sequence[Writer], keys: int, seconds: float, dice: random.Random) -> list[list[Keystroke]]:
    """All writers at once, each at its own pace; the keys of each."""
    paces = [random.Random(dice.random()) for _ in writers]
    return list(await asyncio.gather(*(at_a_pace(w, keys, seconds, p) for w, p in zip(writers, paces, strict=True))))
