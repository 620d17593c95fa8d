"""Key to painted ghost text in the real VS Code, with an engine of 0 ms: what the client and the server cost.

The same keys are typed with a provider in the extension host that answers at once (`test/baseline/`): that is the
editor's own delay, which is subtracted. A frame of the headless browser is 16.7 ms, so times come in such steps.
"""

import asyncio
import contextlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.percentiles import summary
from bench.private_engine import PrivateEngine
from bench.vscode_editor import EditorError, RealVSCode
from bench.vscode_install import EXTENSION, install

BASELINE = EXTENSION / "test" / "baseline"
_GHOSTS = {"a": "-first-", "b": "-second-"}
_SCRIPT = {"rules": [{"match": key, "text": f"{text}\n"} for key, text in _GHOSTS.items()]}
_SETTINGS = {
    "foretype.command": [sys.executable, "-m", "completion_server"],
    "foretype.startEngine": False,
    "editor.quickSuggestions": False,
}
_PAUSE = 0.15  # seconds between a ghost and the next key
"""Records, for each key, when it came and when a frame with the ghost text that belongs to it was painted."""
_WATCH = """(() => {
  const seen = (window.__seen = []);
  addEventListener("keydown", (event) => seen.push({ key: event.key, at: event.timeStamp, painted: null }), true);
  const ghosts = %s;
  const look = (now) => {
    const last = seen.at(-1);
    if (last && last.painted === null && last.key in ghosts) {
      const text = [...document.querySelectorAll(".ghost-text-decoration")].map((e) => e.textContent).join("");
      if (text === ghosts[last.key]) requestAnimationFrame((then) => (last.painted ??= then));
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""


async def measure(keys: int) -> dict[str, Any]:
    """Type `keys` keys each way. Raises `NoEditor` where there is no editor, `EditorError` where it fails."""
    installed = install()
    installed.build()
    with tempfile.TemporaryDirectory(prefix="foretype-") as base:
        folder, script = Path(base) / "code", Path(base) / "script.json"
        folder.mkdir()
        script.write_text(json.dumps(_SCRIPT))
        async with RealVSCode(installed, folder, _SETTINGS, extension=BASELINE) as editor:
            alone = await _type(editor, folder, keys)
        command = (sys.executable, "-m", "completion_server.scripted", "--script", str(script))
        async with (
            PrivateEngine("scripted", command=command) as engine,
            RealVSCode(installed, folder, _SETTINGS, environment=engine.environment) as editor,
        ):
            await editor.wait_status("is ready")
            whole = await _type(editor, folder, keys)
    ours, theirs = summary(whole), summary(alone)
    added = {name: None if value is None else round(value - (theirs[name] or 0.0), 1) for name, value in ours.items()}
    return {"keys": len(whole), "key_to_painted_ms": ours, "editor_alone_ms": theirs, "added_ms": added}


async def _type(editor: RealVSCode, folder: Path, keys: int) -> list[float]:
    """Milliseconds from each key to the frame with its ghost text; the first few keys warm up."""
    (folder / "keys.txt").write_text("")
    await editor.open_file("keys.txt")
    await editor.do("evaluate", script=_WATCH % json.dumps(_GHOSTS))
    await _until_provided(editor)
    warm_up = 6
    for number in range(keys + warm_up):
        key = "ab"[number % 2]
        await editor.press(key)
        await editor.wait_ghost(_GHOSTS[key])
        await asyncio.sleep(_PAUSE)
    seen = await editor.do("evaluate", script="window.__seen")
    return [one["painted"] - one["at"] for one in seen[warm_up:] if one["painted"] is not None]


async def _until_provided(editor: RealVSCode) -> None:
    """Try until an extension answers: it may still be starting."""
    for _ in range(30):
        await editor.press("a")
        with contextlib.suppress(EditorError):
            await editor.wait_ghost(_GHOSTS["a"], seconds=1)
            break
        await editor.press("Backspace")
    await editor.press("Escape", "Backspace")
    await editor.do("evaluate", script="window.__seen.length = 0")


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(100)), indent=2))  # noqa: T201
