"""The editor of a bench: a language server of its own that uses a private engine and starts none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bench.private_engine import PrivateEngine
from lsp.headless import HeadlessEditor

READY_TIMEOUT = 60.0  # seconds for the language server to find an engine that is ready already


@asynccontextmanager
async def editor_on(engine: PrivateEngine, **options: Any) -> AsyncIterator[HeadlessEditor]:
    """An editor that is ready to type in; `options` are the server's. Raises what `HeadlessEditor` does."""
    async with HeadlessEditor({**options, "engine": {"start": False}}, environment=engine.environment) as editor:
        await editor.wait_ready(READY_TIMEOUT)
        yield editor
