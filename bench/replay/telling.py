"""Tells the language server what becomes of its suggestions, as an editor's client does (docs/clients.md).

So the server's own totals, and the engine's numbers, count what is replayed as they count what a person does.
"""

import asyncio
from typing import Any

from lsp.features import EVENT, PARTLY_ACCEPTED, SHOWN
from lsp.headless import HeadlessEditor
from lsp.item import ACCEPTED


class Telling:
    """A `ghosts.Watcher`."""

    def __init__(self, editor: HeadlessEditor) -> None:
        self._editor = editor
        self._accepted: set[asyncio.Task[Any]] = set()

    async def heard(self) -> None:
        """Wait until the server has taken what it has to answer."""
        await asyncio.gather(*self._accepted)

    def shown(self, own_id: str) -> None:
        self._editor.tell(SHOWN, {"item": _item(own_id)})

    def typed(self, own_id: str, typed: int) -> None:
        self._event(own_id, "typedThrough", length=typed)

    def accepted(self, own_id: str) -> None:
        task = asyncio.create_task(self._editor.execute(ACCEPTED, own_id))
        self._accepted.add(task)
        task.add_done_callback(self._accepted.discard)

    def partly_accepted(self, own_id: str, reached: int) -> None:
        self._editor.tell(PARTLY_ACCEPTED, {"item": _item(own_id), "acceptedLength": reached})

    def replaced(self, own_id: str) -> None:
        self._event(own_id, "replaced")

    def _event(self, own_id: str, event: str, **more: int) -> None:
        self._editor.tell(EVENT, {"id": own_id, "event": event, **more})


def _item(own_id: str) -> dict[str, Any]:
    return {"insertText": "", "command": {"title": "", "command": ACCEPTED, "arguments": [own_id]}}
