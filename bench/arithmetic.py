"""`python -m bench.arithmetic`: what the engine's arithmetic costs in quality, against fp32, on real code.

The target is loaded twice, in the arithmetic that the engine chooses here and in fp32. Both read the same tokens of
real files, so every position has the author's text before it, and are asked for the next one: how often both would
write the same token, and how much less likely the author's own becomes. Knows nothing of speed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tokenizers import Tokenizer
from torch import Tensor

from bench.arguments import at_least
from bench.sources import read_sources, standard_library
from bench.stock import target_folder
from completion_server.errors import ForetypeError, SettingsError
from completion_server.models import loader
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.device import choose_arithmetic, choose_device
from completion_server.settings import load
from completion_server.tokenization import TextTokenizer

FILES = ("argparse", "difflib", "shlex", "zipfile")
TOKENS = 1_024
REFERENCE = "float32"
SAME_TOKEN_RATE, NLL_INCREASE = 0.96, 0.003
"""The least and the most that count as good."""

_CHUNK = 128


@dataclass(frozen=True, slots=True)
class Comparison:
    """Sums over positions: of equal first choices, and of negative log-likelihoods (nats) of the author's tokens."""

    positions: int = 0
    same: int = 0
    nll: float = 0.0
    reference_nll: float = 0.0

    def __add__(self, other: "Comparison") -> "Comparison":
        return Comparison(
            self.positions + other.positions,
            self.same + other.same,
            self.nll + other.nll,
            self.reference_nll + other.reference_nll,
        )

    def summary(self) -> dict[str, Any]:
        """`nll_increase` is relative: 0.003 is 0.3 %."""
        rate, increase = self.same / self.positions, self.nll / self.reference_nll - 1
        return {
            "same_token_rate": round(rate, 5),
            "nll_increase": round(increase, 6),
            "nll": round(self.nll / self.positions, 5),
            "reference_nll": round(self.reference_nll / self.positions, 5),
            "positions": self.positions,
            "bars": {"same_token_rate": SAME_TOKEN_RATE, "nll_increase": NLL_INCREASE},
            "met": {"same_token_rate": rate >= SAME_TOKEN_RATE, "nll_increase": increase <= NLL_INCREASE},
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit code 1 if the quality is below the bars, 2 if it could not be judged."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    try:
        result = _run(options, console)
    except (ForetypeError, OSError) as error:
        console.print(f"bench.arithmetic: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console().print(_table(result))
    return 0 if all(result["met"].values()) else 1


def compare(ours: Tensor, reference: Tensor, following: Tensor) -> Comparison:
    """Logits `[n, vocabulary]` of both at the same positions, and the token ids `[n]` that the author wrote next."""
    return Comparison(
        positions=len(following),
        same=int((ours.argmax(-1) == reference.argmax(-1)).sum()),
        nll=_nll(ours, following),
        reference_nll=_nll(reference, following),
    )


def _run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    settings = load({"pair": options.pair, "dtype": options.dtype})
    device, folder = choose_device(settings.device), target_folder(settings)
    arithmetic = choose_arithmetic(settings.dtype, device)
    sources = read_sources(options.files or [str(path) for path in standard_library(FILES)])
    target = loader.load(folder, device, arithmetic)
    reference = loader.load(folder, device, choose_arithmetic(REFERENCE, device))
    text = TextTokenizer(Tokenizer.from_str(target.tokenizer.json), end_ids=sorted(target.tokenizer.eos_ids))
    limit = min(options.tokens, target.max_positions)
    total = Comparison()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for source in progress.track(sources, description="reading"):
            ids = [*text.opening, *text.encode(source.text)][:limit]
            total += _read(target.decoder, reference.decoder, ids, text.real_size)
    if not total.positions:
        raise SettingsError("the files hold no two tokens; name others with --files")
    return {
        **total.summary(),
        "files": len(sources),
        "tokens": limit,
        "dtype": arithmetic.name,
        "reference": REFERENCE,
        "device": str(device),
    }


def _read(ours: Decoder, reference: Decoder, ids: Sequence[int], vocab_size: int) -> Comparison:
    """Both read `ids` in chunks; every token but the last is asked what follows it."""
    total = Comparison()
    memories = [(decoder, decoder.memory(slots=1, capacity=len(ids))) for decoder in (ours, reference) if ids]
    for start in range(0, len(ids) - 1, _CHUNK):
        tokens = ids[start : min(start + _CHUNK, len(ids) - 1)]
        feed = Feed(0, start, tokens, logits=len(tokens))
        mine, theirs = (decoder.forward(memory, [feed])[0][:, :vocab_size] for decoder, memory in memories)
        total += compare(mine, theirs, torch.tensor(ids[start + 1 : start + 1 + len(tokens)], device=mine.device))
    return total


def _nll(logits: Tensor, following: Tensor) -> float:
    return float(torch.nn.functional.cross_entropy(logits.float(), following, reduction="sum"))


def _table(result: dict[str, Any]) -> Table:
    table = Table(title=f"{result['dtype']} beside {result['reference']} on {result['device']}", show_header=False)
    for name, value in result.items():
        table.add_row(name, json.dumps(value) if isinstance(value, dict) else str(value))
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.arithmetic", description="The quality of the engine's arithmetic, against fp32."
    )
    parser.add_argument("--pair", default="embedded", help="a pair by name, see `foretype pairs`")
    parser.add_argument("--dtype", default=None, help="arithmetic to judge (default: the engine's own choice)")
    parser.add_argument("--files", action="append", metavar="GLOB", help="default: four of the standard library")
    parser.add_argument("--tokens", type=at_least(1), default=TOKENS, metavar="N", help="of each file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
