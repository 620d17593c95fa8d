"""`python -m bench.editor_latency --editor NAME`: from a key to painted ghost text, in a real editor.

The engine follows a script and answers at once: what is measured is the editor, its client and the language server.
`--soak SECONDS` types steadily for so long (Neovim) and looks at memory, lost keys and requests.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from bench import editor_neovim, editor_vscode
from bench.arguments import at_least
from bench.neovim import NeovimError
from bench.sources import standard_library
from bench.vscode_editor import EditorError
from bench.vscode_install import NoEditor
from completion_server.errors import ForetypeError

_SOAK_FILE = "textwrap"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.editor_latency", description=__doc__.partition("\n")[0])
    parser.add_argument("--editor", choices=["neovim", "vscode"], required=True)
    parser.add_argument("--keys", type=at_least(1), default=200)
    parser.add_argument("--lines", type=at_least(1), default=1_000, help="of the file that is typed in (Neovim)")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two keys (Neovim)")
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS", help="type steadily instead (Neovim)")
    parser.add_argument("--rate", type=float, default=8.0, help="keys a second of the soak")
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    options = parser.parse_args(arguments)
    if options.soak and options.editor != "neovim":
        parser.error("--soak is for Neovim")
    try:
        found = {"editor": options.editor, **asyncio.run(_measure(options))}
    except (ForetypeError, NeovimError, EditorError, NoEditor, OSError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print(json.dumps(found, indent=None if options.json else 2))  # noqa: T201
    return 0


async def _measure(options: argparse.Namespace) -> dict[str, Any]:
    if options.editor == "vscode":
        return await editor_vscode.measure(options.keys)
    if options.soak:
        text = standard_library([_SOAK_FILE])[0].read_text()
        return await editor_neovim.measure_soak(text, options.soak, options.rate, options.lines)
    return await editor_neovim.measure(options.keys, options.lines, options.pause)


if __name__ == "__main__":
    sys.exit(main())
