"""`python -m bench.publish`: writes docs/measurements.md and docs/quality.md from the JSON that the benches printed.

The JSON files lie in docs/measurements/, one per command; no figure in a page is typed by hand. `COMMANDS` says which
command gives which file; `QUALITY` gives the one that has a page and pictures of its own. Knows nothing of how anything
is measured.
"""

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.measurements_page import page
from bench.quality import page as quality_page

FOLDER = Path(__file__).parents[1] / "docs" / "measurements"
COMMANDS = {
    "replay": "python -m bench.replay --pair embedded --files STDLIB/textwrap.py --files STDLIB/shlex.py --keys 500 "
    "--seed 11 --json",
    "replay-human": "python -m bench.replay --pair embedded --pace human --stream --files STDLIB/textwrap.py "
    "--files STDLIB/shlex.py --files STDLIB/heapq.py --files STDLIB/csv.py --keys 360 --seed 11 --json",
    "replay-editors": "python -m bench.replay --pair embedded --editors 4 --stream --files STDLIB/textwrap.py "
    "--files STDLIB/shlex.py --files STDLIB/heapq.py --files STDLIB/csv.py --keys 100 --seed 11 --json",
    "engine": "python -m bench.engine --pair embedded --peer transformers --json",
    "drafts": "python -m bench.drafts --pair embedded --files STDLIB/argparse.py --files STDLIB/textwrap.py "
    "--files STDLIB/zipfile.py --files STDLIB/heapq.py --files editor-clients/vscode/src/sessions.ts "
    "--files editor-clients/vscode/src/commands.ts --files editor-clients/vscode/src/session/session.ts "
    "--files editor-clients/vscode/src/session/tracker.ts --files editor-clients/neovim/lua/foretype/init.lua "
    "--files editor-clients/neovim/lua/foretype/client.lua --files editor-clients/neovim/lua/foretype/commands.lua "
    "--files editor-clients/neovim/lua/foretype/ghost.lua --places 3 --rounds 2 --json",
    "scale": "python -m bench.scale --pair embedded --json",
    "arithmetic": "python -m bench.arithmetic --pair embedded --json",
    "prometheus": "python -m bench.prometheus --pair embedded --seconds 125 --json",
    "lossless-tiny": "python -m bench.lossless --prompts 2000 --json",
    "lossless-embedded": "python -m bench.lossless --pair embedded --prompts 200 --tokens 6 --rows 40 --k 4 --json",
    "tracing": "python -m bench.tracing --keys 300 --seed 1 --json",
    "editor-neovim": "python -m bench.editor_latency --editor neovim --json",
    "editor-neovim-long": "python -m bench.editor_latency --editor neovim --lines 16000 --json",
    "editor-neovim-soak": "python -m bench.editor_latency --editor neovim --soak 600 --lines 16000 --json",
}

QUALITY = "python -m bench.quality --pair embedded --packages evaluation --n 600 --seed 7 --json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages; with `--machine`, note this machine as the one that measured."""
    if "--machine" in (sys.argv[1:] if arguments is None else arguments):
        (FOLDER / "machine.json").write_text(json.dumps(_machine(), indent=1) + "\n", encoding="utf-8")
    results = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}
    FOLDER.with_suffix(".md").write_text("\n".join(page(results, COMMANDS)) + "\n", encoding="utf-8")
    if quality := results.get("quality"):
        _write_quality(quality)
    return 0


def _write_quality(result: Mapping[str, Any]) -> None:
    from bench.quality.plot import draw  # takes a second to import

    lines = quality_page.page(result, QUALITY)
    (FOLDER.parent / "quality.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(result, FOLDER.parent)


def _machine() -> dict[str, Any]:
    import torch
    import transformers

    return {
        "cores": f"{torch.get_num_threads()} cores",
        "processor": torch.cpu.get_capabilities().get("cpu_name", platform.processor()),
        "system": platform.system(),
        "python": f"Python {platform.python_version()}",
        "torch": f"torch {torch.__version__}",
        "transformers": f"transformers {transformers.__version__}",
    }


if __name__ == "__main__":
    sys.exit(main())
