"""When to have a prompt prefilled before anybody asks: on open, when the cursor or the typing rests.

One at a time for all documents: the newest wish replaces the one before it. Knows nothing of engines or prompts.
"""

import asyncio

from lsp.completor import Completor

REST = 0.15  # seconds without a key after which the cursor counts as resting


class Warmer:
    def __init__(self, rest: float = REST) -> None:
        self._rest = rest
        self._task: asyncio.Task[None] | None = None

    def schedule(self, completor: Completor) -> None:
        """Warm `completor`'s document as soon as nothing happens for a while."""
        self.cancel()
        self._task = asyncio.create_task(self._warm(completor))

    def cancel(self) -> None:
        """A key or a request came: the engine has better things to do."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _warm(self, completor: Completor) -> None:
        await asyncio.sleep(self._rest)
        await completor.warm()
