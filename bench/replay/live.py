"""Performs actions in an editor in real time: keys come whether or not the last one was answered.

Knows nothing of plans, engines or figures.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.keystrokes import Keystroke
from bench.replay.actions import Accept, Action, Close, Delete, Insert, Key, Move, Open, Switch
from bench.replay.ghosts import Ghosts
from bench.replay.hand import Hand
from bench.replay.presses import Press
from bench.replay.telling import Telling
from lsp.headless import Buffer, HeadlessEditor

_HELD_UP = 0.05  # seconds; somebody who was held up for longer does not hurry afterwards


class LiveTypist:
    """What `hand` does, in `editor`, `speed` times as fast. `ghosts` are what is suggested meanwhile.

    `on_action` is called behind each action.
    """

    def __init__(
        self, editor: HeadlessEditor, hand: Hand, *, speed: float = 1.0, on_action: Callable[[], None] = lambda: None
    ) -> None:
        self._telling = Telling(editor)
        self.ghosts = Ghosts(self._telling)
        self.missed = 0  # accepts of what was not suggested
        self._editor = editor
        self._hand = hand
        self._speed = speed
        self._on_action = on_action
        self._buffers: dict[str, Buffer] = {}
        self._document = ""
        self._place = 0  # counts actions: an answer to an earlier one is not shown
        self._asked: list[asyncio.Task[Press]] = []
        self._trouble: BaseException | None = None
        self._began: float | None = None

    async def type(self, presses: int | None = None, phase: str = "") -> None:
        """Go on for so many keys, or to the end. Raises `EngineUnavailable` if the language server has ended."""
        while (due := self._hand.due) is not None and presses != 0:
            await self._until(due / self._speed)
            if self._trouble is not None:
                raise self._trouble
            self._perform(self._hand.act(self.ghosts.text, self.ghosts.seen_ms(self._now())), phase)
            self._on_action()
            if presses is not None and isinstance(self._hand.done[-1], Key):
                presses -= 1

    async def presses(self) -> list[Press]:
        """All keys so far, once they are answered; what grew behind its first line, with what all of it cost."""
        await self._telling.heard()
        return [self._grown(press) for press in await asyncio.gather(*self._asked)]

    def _grown(self, press: Press) -> Press:
        """Growth is not painted here: the next key's answer brings it."""
        stroke = press.stroke
        grown = self._editor.grown.get(str(stroke.trace.get("request")))
        if stroke.outcome != "growing" or grown is None:
            return press
        return replace(press, stroke=replace(stroke, trace={**grown, "outcome": "growing"}))

    async def _until(self, due: float) -> None:
        now = time.perf_counter()
        if self._began is None:
            self._began = now - due
        late = now - self._began - due
        if late > _HELD_UP:
            self._began += late
        await asyncio.sleep(max(0.0, -late))

    def _now(self) -> float:
        """Seconds as the person takes them to be."""
        return time.perf_counter() * self._speed

    def _perform(self, action: Action, phase: str) -> None:
        self._place += 1
        if isinstance(action, Key):
            self._press(self._buffers[self._document], action, phase)
            return
        self.ghosts.gone(self._now())
        match action:
            case Open(document=document):
                self._buffers[document] = self._editor.open(Path(document), action.text)
                self._go(document, action.line, action.column)
            case Switch(document=document):
                self._go(document, *self._buffers[document].cursor)
            case Close(document=document):
                self._buffers.pop(document).close()
            case Move(line=line, column=column):
                self._go(self._document, line, column)

    def _go(self, document: str, line: int, column: int) -> None:
        self._document = document
        buffer = self._buffers[document]
        buffer.move(line, column)
        buffer.look()

    def _press(self, buffer: Buffer, key: Key, phase: str) -> None:
        at = time.perf_counter()
        match key:
            case Insert(text=name):
                buffer.insert(name)
                self.ghosts.typed(name, self._now())
            case Accept(text=text):
                name = "⇥"
                buffer.insert(text)
                self.missed += not self.ghosts.accepted(text, self._now())
            case Delete(count=count):
                name = "⌫"
                buffer.delete_back(count)
                self.ghosts.gone(self._now())
        task = asyncio.create_task(self._ask(buffer, name, at, phase))
        task.add_done_callback(self._answered)
        self._asked.append(task)

    async def _ask(self, buffer: Buffer, name: str, at: float, phase: str) -> Press:
        place = self._place
        suggestion = await buffer.suggest()
        if place == self._place:
            # What would replace text behind the cursor cannot be compared with what the author wrote in front of it.
            text = "" if suggestion.replaced else suggestion.text
            self.ghosts.answered(text, self._now(), str(suggestion.trace.get("id", "")))
        return Press(Keystroke(name, suggestion.text, suggestion.key_ms, suggestion.trace), at, phase)

    def _answered(self, task: asyncio.Task[Press]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._trouble = error
