"""Ten minutes of typing at eight keys a second in a file of 16,000 lines, in the real VS Code.

`python -m bench.vscode_soak [SECONDS]` looks for keys that were lost, memory that grows, and
requests that run at the same time.
"""

import asyncio
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.lsp_record import most_live, read
from bench.private_engine import PrivateEngine
from bench.vscode_editor import RealVSCode
from bench.vscode_install import install

KEYS_PER_SECOND = 8
LINES = 16_000
_WORDS = "total = first + second\n"
_SCRIPT = {"rules": [{"match": "= ", "text": "first + second\n"}, {"match": "+ ", "text": "something else\n"}]}


@dataclass(frozen=True)
class Soaked:
    keys: int
    missed: int  # keys that are not in the saved file
    memory_mb: tuple[tuple[str, list[float]], ...]  # resident, by process, at the beginning, halfway and at the end


def write_long_file(file: Path) -> None:
    file.write_text("".join(f"value_{line} = {line}\n" for line in range(LINES)))


async def type_steadily(editor: RealVSCode, file: Path, seconds: float) -> Soaked:
    """Type at the end of `file`, which is in the open folder, and save it."""
    before = await asyncio.to_thread(file.read_text)
    await editor.open_file(file.name)
    keys = round(KEYS_PER_SECOND * seconds)
    text = (_WORDS * (keys // len(_WORDS) + 1))[:keys]
    memory = [editor.memory_mb()]
    for half in (text[: keys // 2], text[keys // 2 :]):
        for start in range(0, len(half), 400):  # an order that is not too long for the driver's patience
            await editor.type(half[start : start + 400], delay=1_000 / KEYS_PER_SECOND)
        memory.append(editor.memory_mb())
    await editor.press("Escape", "Control+S")
    await asyncio.sleep(1)
    missed = len(text) - len((await asyncio.to_thread(file.read_text)).removeprefix(before))
    by_process = tuple((name, [at.get(name, 0.0) for at in memory]) for name in memory[0])
    return Soaked(keys, missed, by_process)


async def soak(seconds: float) -> dict[str, Any]:
    """The whole measurement. Raises `NoEditor` and `EditorError`."""
    installed = install()
    installed.build()
    with tempfile.TemporaryDirectory(prefix="foretype-") as base:
        folder, script, record = Path(base) / "code", Path(base) / "script.json", Path(base) / "record.jsonl"
        folder.mkdir()
        script.write_text(json.dumps(_SCRIPT))
        write_long_file(folder / "long.py")
        server = [sys.executable, "-m", "bench.lsp_record", str(record), sys.executable, "-m", "completion_server"]
        settings = {"foretype.command": server, "foretype.startEngine": False}
        command = (sys.executable, "-m", "completion_server.scripted", "--script", str(script))
        async with (
            PrivateEngine("scripted", command=command) as engine,
            RealVSCode(installed, folder, settings, environment=engine.environment) as editor,
        ):
            await editor.wait_status("is ready")
            found = await type_steadily(editor, folder / "long.py", seconds)
        messages = read(record)
    method = "textDocument/inlineCompletion"
    requests = sum(message.get("method") == method for message in messages)
    return {**asdict(found), "requests": requests, "most_live_requests": most_live(messages, method)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(soak(float(sys.argv[1]) if sys.argv[1:] else 600.0)), indent=2))  # noqa: T201
