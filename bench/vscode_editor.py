"""The real VS Code in a headless browser, to be told what to do: `async with RealVSCode(...)`.

Its server and the browser are processes of their own and end with the context. Speaks to the browser through
`editor-clients/vscode/test/editor/driver.mjs`, JSON lines both ways. Knows nothing of engines.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from bench.vscode_install import EXTENSION, Installed

STATUS = "[id='foretype.foretype.foretype.status']"
PATIENCE = 60.0  # seconds for what takes a few on a quiet machine
QUIET = {
    "security.workspace.trust.enabled": False,
    "chat.disableAIFeatures": True,
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.tips.enabled": False,
    "window.commandCenter": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "telemetry.telemetryLevel": "off",
    "git.enabled": False,
    "files.hotExit": "off",
    "editor.minimap.enabled": False,
}


class EditorError(Exception):
    """The editor or the browser failed; the message has its words."""


class RealVSCode:
    """`folder` is opened. `settings` are the person's, on top of ones that keep the editor quiet.

    `tests` is a module for the extension host: it is run instead of waiting for keys, see `finished`.
    """

    def __init__(
        self,
        installed: Installed,
        folder: Path,
        settings: Mapping[str, Any],
        *,
        environment: Mapping[str, str] | None = None,
        extension: Path = EXTENSION,
        tests: Path | None = None,
    ) -> None:
        self._installed = installed
        self._folder = folder
        self._settings = {**QUIET, **settings}
        self._environment = {**os.environ, **(environment or {})}
        self._extension = extension
        self._tests = tests
        self._state = Path(tempfile.mkdtemp(prefix="foretype-vscode-"))
        self._server: asyncio.subprocess.Process | None = None
        self._driver: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        try:
            port = _free_port()
            await self._start_server(port)
            await self._start_driver(self._url(port))
            await self.do("open", timeout=1_000 * PATIENCE)
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    # -- hands and eyes ------------------------------------------------------------------------------------------------

    async def do(self, op: str, **options: Any) -> Any:
        """One order for the driver; what it gives back. Raises `EditorError`."""
        driver = self._driver
        if driver is None or driver.stdin is None or driver.stdout is None:
            raise EditorError("the browser was not started")
        driver.stdin.write(json.dumps({"op": op, **options}).encode() + b"\n")
        line = await asyncio.wait_for(driver.stdout.readline(), 2 * PATIENCE)
        reply = json.loads(line) if line else {"ok": False, "value": "the browser has ended"}
        if not reply["ok"]:
            raise EditorError(f"{op}: {reply['value']}")
        return reply["value"]

    async def type(self, text: str, *, delay: float = 0.0) -> None:
        """Type `text`, `delay` ms between two keys."""
        await self.do("type", text=text, delay=delay)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.do("press", key=key)

    async def ghost(self) -> str:
        """The ghost text that is painted, empty for none."""
        return str(await self.do("ghost"))

    async def wait(self, op: str, holds: Any, *, seconds: float = PATIENCE, **options: Any) -> Any:
        """Ask until `holds(answer)`; the answer. Raises `EditorError` with the last one if that does not come."""
        until = time.monotonic() + seconds
        while True:
            answer = await self.do(op, **options)
            if holds(answer):
                return answer
            if time.monotonic() > until:
                raise EditorError(f"{op} {options}: still {answer!r}")
            await asyncio.sleep(0.03)

    async def wait_ghost(self, text: str, *, seconds: float = 20.0) -> None:
        await self.wait("ghost", lambda ghost: ghost == text, seconds=seconds)

    async def command(self, title: str) -> None:
        """Run a command of the palette by its title."""
        await self.press("F1")
        await self.wait("text", bool, selector=".quick-input-widget:not([style*='display: none']) .monaco-list-row")
        await self.type(title)
        await self.wait("label", lambda rows: rows and str(rows[0]).startswith(title), selector=_ROWS)
        await self.press("Enter")

    async def open_file(self, name: str) -> None:
        """Open a file of the folder and put the cursor at its end."""
        await self.press("Control+P")
        await self.type(name)
        await self.wait("label", lambda rows: rows and str(rows[0]).startswith(Path(name).name), selector=_ROWS)
        await self.press("Enter")
        await self.wait("label", lambda tabs: Path(name).name in str(tabs), selector=".tab.active")
        await self.wait("text", bool, selector=".monaco-editor.focused .view-line")
        await self.press("Control+End")

    async def lines(self) -> list[str]:
        """The lines of the focused editor that are on the screen, ghost text and all."""
        found = await self.do("evaluate", script=_LINES)
        return [str(line) for line in found]

    async def wait_status(self, words: str) -> None:
        """Wait until Foretype's entry in the status bar says `words`, as a screen reader would read it."""
        await self.wait("label", lambda labels: words in str(labels), selector=STATUS)

    def memory_mb(self) -> dict[str, float]:
        """Resident memory of the extension host and of the language server."""
        session = self._server.pid if self._server else 0
        kinds = {"extension host": "--type=extensionHost", "language server": "completion_server lsp"}
        found = dict.fromkeys(kinds, 0.0)
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.getsid(int(folder.name)) != session:
                    continue
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                pages = int((folder / "statm").read_text().split()[1])
                for kind, part in kinds.items():
                    if part in words and "bench.lsp_record" not in words:
                        found[kind] += round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
        return found

    async def finished(self) -> tuple[int, list[str]]:
        """Wait for the tests in the extension host: exit code and log."""
        answer = await self.wait("finished", lambda found: found["code"] is not None, seconds=3 * PATIENCE)
        return int(answer["code"]), [str(line) for line in answer["log"]]

    # -- processes -----------------------------------------------------------------------------------------------------

    async def _start_server(self, port: int) -> None:
        # The window is a remote one: settings of scope "machine" are read from the server's own file.
        for folder in (self._state / "user" / "User", self._state / "user" / "Machine"):
            folder.mkdir(parents=True)
            (folder / "settings.json").write_text(json.dumps(self._settings))
        options = ["--host", "127.0.0.1", "--port", str(port), "--without-connection-token"]
        options += ["--accept-server-license-terms", "--enable-smoke-test-driver", "--telemetry-level", "off"]
        options += ["--server-data-dir", str(self._state / "server"), "--user-data-dir", str(self._state / "user")]
        options += ["--extensions-dir", str(self._state / "extensions"), "--reconnection-grace-time", "1"]
        with (self._state / "server.log").open("wb") as log:
            self._server = await asyncio.create_subprocess_exec(
                self._installed.node,
                self._installed.server,
                *options,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + PATIENCE
        while not _listens(port):
            if self._server.returncode is not None or time.monotonic() > until:
                raise EditorError((self._state / "server.log").read_text()[-2_000:] or "the server does not listen")
            await asyncio.sleep(0.1)

    async def _start_driver(self, url: str) -> None:
        with (self._state / "driver.log").open("wb") as log:
            self._driver = await asyncio.create_subprocess_exec(
                self._installed.node,
                EXTENSION / "test" / "editor" / "driver.mjs",
                self._installed.browser,
                url,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                limit=2**24,
            )

    def _url(self, port: int) -> str:
        remote = f"vscode-remote://127.0.0.1:{port}"
        payload = [["extensionDevelopmentPath", f"{remote}{self._extension}"]]
        if self._tests is not None:
            payload.append(["extensionTestsPath", f"{remote}{self._tests}"])
        return f"http://127.0.0.1:{port}/?folder={quote(str(self._folder))}&payload={quote(json.dumps(payload))}"

    async def _end(self) -> None:
        for process in (self._driver, self._server):
            if process is None:
                continue
            if process.stdin is not None:
                process.stdin.close()
                with contextlib.suppress(TimeoutError):  # it closes the browser
                    await asyncio.wait_for(process.wait(), 5)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        shutil.rmtree(self._state, ignore_errors=True)


_ROWS = ".quick-input-widget .monaco-list-row"
_LINES = """[...document.querySelectorAll('.monaco-editor.focused .view-lines > .view-line')]
    .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
    .map((line) => line.textContent.replaceAll('\\u00a0', ' ').replaceAll('\\u200b', ''))"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
