"""`bench/gpu.sh`: runs the parts one after the other, each within its time, and writes what is known after each.

A part that fails is reported and does not stop the others. Exit status 1 if one failed.
"""

import argparse
import json
import platform
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from bench.gpu import passes, peers, rounds, typing
from bench.gpu.shapes import REAL, TINY
from bench.gpu.stage import Stage


@dataclass(frozen=True, slots=True)
class Part:
    """`budget_s`: seconds after which a part begins nothing new. One that is not `usual` runs only if asked for."""

    name: str
    run: Callable[[Stage], dict[str, Any]]
    budget_s: float
    usual: bool = True


PARTS = (
    Part("bandwidth", passes.bandwidth, 5),
    Part("passes", passes.passes, 30),
    Part("drafts", passes.drafts, 20),
    Part("equality", passes.equality, 15),
    Part("step", rounds.step, 15),
    Part("rounds", rounds.rounds, 30),
    Part("line", rounds.line, 20),
    Part("prefill", passes.prefill, 20),
    Part("slots", passes.slots, 5),
    Part("narrow", passes.narrow, 20),
    Part("editors", passes.editors, 10),
    Part("keys", typing.keys, 25),
    Part("cancel", typing.cancel, 20),
    Part("peers", peers.peers, 40),
    Part("compiled", passes.compiled_blocks, 60, usual=False),
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    device = torch.device(options.device)
    stage = Stage(TINY if options.tiny else REAL, device, options.draft)
    chosen = [part for part in PARTS if part.name in options.parts]
    if options.profile:
        chosen.append(Part("profile", partial(passes.profile, path=options.profile), 30))
    report: dict[str, Any] = {"machine": _machine(device), "tiny": options.tiny, "draft": options.draft, "parts": {}}
    for part in chosen:
        report["parts"][part.name] = outcome = _run(part, stage)
        print("\n".join(_rows(part.name, outcome)), flush=True)  # noqa: T201
        if options.out:
            options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0 if all(outcome["ok"] for outcome in report["parts"].values()) else 1


def _run(part: Part, stage: Stage) -> dict[str, Any]:
    stage.begin(part.budget_s)
    began = time.perf_counter()
    outcome: dict[str, Any] = {"ok": True}
    try:
        outcome["result"] = part.run(stage)
    except Exception as error:  # whatever one part meets, the others are still worth their time
        outcome = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        traceback.print_exc()
    outcome["cut_short"] = stage.cut_short
    outcome["seconds"] = round(time.perf_counter() - began, 2)
    return outcome


def _rows(name: str, outcome: dict[str, Any]) -> list[str]:
    """The table: one line per figure or per row of figures."""
    note = " (cut short)" if outcome["cut_short"] else ""
    rows = [f"== {name}, {outcome['seconds']} s{note}"]
    if not outcome["ok"]:
        return [*rows, f"   failed: {outcome['error']}"]
    return rows + _figures(outcome["result"], "   ")


def _figures(value: dict[str, Any], indent: str) -> list[str]:
    rows = []
    for key, inner in value.items():
        if not isinstance(inner, dict):
            rows.append(f"{indent}{key:<28} {inner}")
        elif any(isinstance(deeper, dict) for deeper in inner.values()):
            rows += [f"{indent}{key}", *_figures(inner, indent + "   ")]
        else:
            rows.append(f"{indent}{key:<28} " + "  ".join(f"{name} {figure}" for name, figure in inner.items()))
    return rows


def _machine(device: torch.device) -> dict[str, Any]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or "CPU"
    return {
        "device": name,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "cuda": torch.version.cuda,
    }


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/gpu.sh", description="What one GPU does, in under five minutes.")
    names = [part.name for part in PARTS]
    usual = ",".join(part.name for part in PARTS if part.usual)
    parser.add_argument("--parts", default=usual, help=f"all, or separated by commas, of: {', '.join(names)}")
    parser.add_argument("--out", type=Path, help="where the JSON goes; written again after every part")
    parser.add_argument("--draft", default="0.5b", choices=sorted(REAL.drafts), help="draft of rounds, lines and peers")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--tiny", action="store_true", help="tiny shapes: a dry run, its figures mean nothing")
    parser.add_argument("--profile", type=Path, help="also write a profiler's table of one pass to this file")
    options = parser.parse_args(arguments)
    options.parts = names if options.parts == "all" else options.parts.split(",")
    unknown = set(options.parts) - set(names)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if options.device.split(":")[0] not in ("cpu", "cuda"):
        parser.error(f"device is {options.device!r}; use cpu, cuda or cuda:N")
    if options.device != "cpu" and not torch.cuda.is_available():
        parser.error(f"device is {options.device} but torch sees no GPU here")
    if options.device == "cpu" and not options.tiny:
        parser.error("no GPU is here; --tiny is a dry run on the CPU")
    for path in (options.out, options.profile):
        if path is not None and not path.parent.is_dir():
            parser.error(f"there is no folder {path.parent}")
    return options


if __name__ == "__main__":
    sys.exit(main())
