"""The real VS Code with the built extension, the real language server, and an engine that follows a script.

What the editor and the server say to each other is written down by `bench.lsp_record`: a test can count requests and
events.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.lsp_record import read
from bench.vscode_editor import RealVSCode
from bench.vscode_install import Installed, NoEditor, install

HERE = Path(__file__).parent
SCRIPT = json.loads((HERE / "script.json").read_text())


class Workplace:
    """A folder to open, an engine that can be stopped and started, and the record of what was said."""

    def __init__(self, base: Path, installed: Installed) -> None:
        self.folder = base / "a folder"
        self.folder.mkdir()
        self.runtime = base / "run"
        self.runtime.mkdir(mode=0o700)
        self.base = base
        self.installed = installed
        self.record = base / "record.jsonl"
        self._engine: subprocess.Popen[bytes] | None = None

    def start_engine(self, script: Mapping[str, Any] = SCRIPT) -> None:
        (self.base / "script.json").write_text(json.dumps(script))
        command = [sys.executable, "-m", "completion_server.scripted", "--script", str(self.base / "script.json")]
        with (self.base / "engine.log").open("ab") as log:
            self._engine = subprocess.Popen(
                [*command, "--exit-with-parent"], env={**os.environ, **self.environment}, stdout=log, stderr=log
            )

    def stop_engine(self) -> None:
        """End it as a crash would, with no word to anybody."""
        if self._engine is not None:
            self._engine.kill()
            self._engine.wait()
            self._engine = None

    @property
    def environment(self) -> dict[str, str]:
        return {
            "FORETYPE_RUNTIME_DIR": str(self.runtime),
            "XDG_CONFIG_HOME": str(self.base / "config"),
            "HF_HUB_OFFLINE": "1",
        }

    @asynccontextmanager
    async def editor(self, tests: Path | None = None, **settings: Any) -> AsyncIterator[RealVSCode]:
        """The editor with the folder open."""
        command = [sys.executable, "-m", "bench.lsp_record", str(self.record)]
        command += [sys.executable, "-m", "completion_server"]
        chosen = {"foretype.command": command, "foretype.startEngine": False} | {
            f"foretype.{name}" if "." not in name else name: value for name, value in settings.items()
        }
        async with RealVSCode(self.installed, self.folder, chosen, environment=self.environment, tests=tests) as editor:
            yield editor

    def said(self, method: str) -> list[dict[str, Any]]:
        """The messages of this method so far, oldest first."""
        return [message for message in read(self.record) if message.get("method") == method]

    def events(self) -> list[str]:
        """What the editor reported of suggestions, as short words."""
        return [words for message in read(self.record) if (words := _event(message))]

    async def until_said(self, method: str, count: int = 1) -> list[dict[str, Any]]:
        async with asyncio.timeout(20):
            while True:
                found = self.said(method)
                if len(found) >= count:
                    return found
                await asyncio.sleep(0.03)


@pytest.fixture(scope="session")
def installed() -> Installed:
    """The editor, fetched if need be. Skips where it can't be had, and says why."""
    try:
        found = install(lambda line: print(f"\n{line}", file=sys.__stderr__))
        found.build()
    except NoEditor as error:
        pytest.skip(f"VS Code can't be tested here: {error}")
    return found


@pytest.fixture(scope="session")
def make_workplace() -> type[Workplace]:
    """The class, for fixtures of modules: there is no importing a conftest."""
    return Workplace


@pytest.fixture
def workplace(installed: Installed) -> Iterator[Workplace]:
    with tempfile.TemporaryDirectory(prefix="foretype-") as base:  # short: the path of a socket may have 100 bytes
        place = Workplace(Path(base), installed)
        try:
            yield place
        finally:
            place.stop_engine()


def _event(message: Mapping[str, Any]) -> str:
    params = message.get("params") or {}
    match message.get("method"):
        case "textDocument/didShowCompletion":
            return "shown"
        case "textDocument/didPartiallyAcceptCompletion":
            return f"partly {params['acceptedLength']}"
        case "workspace/executeCommand" if params["command"] == "foretype.accepted":
            return "accepted"
        case "foretype/event" if params["event"] == "painted":
            return ""  # how long it took, not what became of it
        case "foretype/event":
            return f"{params['event']} {params['length']}" if "length" in params else str(params["event"])
    return ""
