"""Parts of the way from a cursor to a suggestion that can be switched off, to see what each brings.

`healing` and `layout` are settings of a pair: the engine reads them from a pairs file of our own. `trim` is all that
the language server does to what the engine said. `confidence` needs no run: it is what hides suggestions.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from completion_server.pairs import N_GRAM, Pair, choose, load_pairs

Part = Literal["healing", "layout", "trim"]
PARTS: tuple[Part, ...] = get_args(Part)
CONFIGURATION = "XDG_CONFIG_HOME"  # the variable that says where the engine looks for its pairs file


def write_pair_without(part: Part, name: str, folder: Path) -> None:
    """Have engines whose `CONFIGURATION` is `folder` know the pair `name` with a part switched off.

    Raises `SettingsError` where no pair has this name.
    """
    pair = choose(load_pairs(), name)
    changed = replace(pair, healing=False) if part == "healing" else replace(pair, layout="prefix-only")
    (folder / "foretype").mkdir(parents=True)
    (folder / "foretype" / "pairs.toml").write_text(_toml(changed), encoding="utf-8")


def _toml(pair: Pair) -> str:
    values = {
        "name": pair.name,
        "target": str(pair.target),
        "draft": N_GRAM if pair.draft is None else str(pair.draft),
        "drafters": list(pair.drafters),
        "layout": pair.layout,
        "seeded": pair.seeded,
        "healing": pair.healing,
    }
    return "[[pair]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
