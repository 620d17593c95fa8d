"""`python -m bench.engine`: what passes cost and how fast the engine decodes, beside the same weights elsewhere.

The engine runs in this process, without sockets and editors. Every prompt is decoded three times in turn: by the target
alone, with drafts, and by each peer, so that a noisy machine is noisy for all. Text with and without drafts must be the
same. Ratios are ours divided by theirs, of medians and of totals from the one run. Knows nothing of LSP.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.arguments import at_least
from bench.driver import Decoded, Driver
from bench.passes import measure_passes
from bench.peers import Clock, Peer, make_peer
from bench.percentiles import median, ratio, ratio_interval
from bench.prompts import head, inside_a_line, unpredictable
from bench.sources import FILES, standard_library
from bench.stock import target_folder
from completion_server.engine.loading import load_engine
from completion_server.errors import ForetypeError, SettingsError
from completion_server.protocol import Usage
from completion_server.settings import load

TOKENS = 48
COLD_TOKENS = 1_500
ADVERSARIAL_TOKENS = 32
ADVERSARIAL_ROUNDS = 3  # of each prompt


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit code 1 if a text differed between drafting and the target alone."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    try:
        result = _Bench(options, console).run()
    except (ForetypeError, OSError) as error:
        console.print(f"bench.engine: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console().print(_table(result))
    return 0 if result["differing_texts"] == 0 else 1


class _Bench:
    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self._options = options
        self._console = console
        self._settings = load({"pair": options.pair, "dtype": options.dtype})
        self._threads = self._settings.threads or torch.get_num_threads()  # our passes will set their own
        self._engine = load_engine(self._settings)
        self._driver = Driver(self._engine)
        self._peers: dict[str, Peer] = {name: make_peer(name, self._settings, self._threads) for name in options.peer}
        self._drafted, self._alone = Clock(), Clock()
        self._first_text: dict[str, list[float]] = {"warm": [], "inside_line": []}
        self._usages: list[Usage] = []  # of drafting
        self._same_tokens: dict[str, list[float]] = {name: [] for name in self._peers}
        self._differing = 0

    def run(self) -> dict[str, Any]:
        options = self._options
        prompts = _read(options.files, options.prompts)
        adversarial = unpredictable(options.adversarial, seed=0)
        with Progress(console=self._console, transient=True, disable=not self._console.is_terminal) as progress:
            task = progress.add_task("decoding", total=len(prompts) + len(adversarial))
            times = []
            for number, prompt in enumerate(prompts):
                times.append(self._side_by_side(prompt, number))
                progress.advance(task)
            hard = []
            for prompt in adversarial:
                hard += [self._ours(prompt, ADVERSARIAL_TOKENS, turn)[1] for turn in range(ADVERSARIAL_ROUNDS)]
                progress.advance(task)
            self._cold("\n".join(prompts))
        return self._report(times, hard)

    def _side_by_side(self, prompt: str, number: int) -> tuple[float, float]:
        """The same prompt by the target alone, with drafts and by all peers, and its first token inside a line."""
        (alone, drafted), seconds = self._ours(prompt, self._options.tokens, number)
        self._alone.add(alone.usage.completion_tokens, alone.seconds)
        self._drafted.add(drafted.usage.completion_tokens, drafted.seconds)
        self._usages.append(drafted.usage)
        self._take_first("warm", drafted.usage, self._drafted.warm_ttft_ms)
        inside = inside_a_line(prompt)
        self._take_first("inside_line", self._driver.decode(inside, 2).usage, self._drafted.inside_line_ttft_ms)
        for name, peer in self._peers.items():
            tokens = peer.decode(prompt, max(1, alone.usage.completion_tokens))
            self._same_tokens[name].append(_agreement(peer.encode(alone.text), tokens))
            peer.first(inside)
        return seconds

    def _ours(self, prompt: str, tokens: int, number: int) -> tuple[tuple[Decoded, Decoded], tuple[float, float]]:
        """The target alone and with drafts, in an order that turns with `number`; and the seconds of both."""
        found = {}
        for drafting in (False, True) if number % 2 == 0 else (True, False):
            found[drafting] = self._driver.decode(prompt, tokens, drafting=drafting)
        self._differing += found[False].text != found[True].text
        return (found[False], found[True]), (found[False].seconds, found[True].seconds)

    def _take_first(self, name: str, usage: Usage, times: list[float]) -> None:
        times.append(usage.first_tokens_ms)
        self._first_text[name].append(usage.ttft_ms)

    def _cold(self, text: str) -> None:
        for number in range(self._options.cold):
            cold = f"# {number}\n{text}"
            self._drafted.cold_ttft_ms.append(self._driver.cold(cold, COLD_TOKENS).first_tokens_ms)
            for peer in self._peers.values():
                peer.cold(cold, COLD_TOKENS)

    def _report(self, times: list[tuple[float, float]], hard: list[tuple[float, float]]) -> dict[str, Any]:
        pair, usages = self._engine.pair, self._usages
        ours, alone = self._drafted.summary(), self._alone.summary()
        peers = {
            name: {**peer.summary(), "same_tokens": round(statistics.mean(self._same_tokens[name]), 4)}
            for name, peer in self._peers.items()
        }
        drafted, accepted = sum(u.drafted_tokens for u in usages), sum(u.accepted_tokens for u in usages)
        return {
            "pass_ms": {str(width): round(ms, 2) for width, ms in pair.costs.target_ms.items()},
            **self._passes(),
            **ours,
            **{f"{name}_first_text_ms": median(found) for name, found in self._first_text.items()},
            "tokens_per_s_target_only": alone["tokens_per_s"],
            "speedup_by_drafting": _speedup(times),
            "adversarial": _speedup(hard),
            "differing_texts": self._differing,
            "draft_acceptance_rate": ratio(accepted, drafted),
            "acceptance_length": ratio(sum(u.completion_tokens for u in usages), sum(u.target_passes for u in usages)),
            "peers": peers,
            "ratios": {name: {key: _over(ours[key], theirs[key]) for key in ours} for name, theirs in peers.items()},
            "pair": pair.name,
            "dtype": pair.target.arithmetic,
            "device": str(pair.target.device),
            "prompts": len(usages),
            "tokens": self._options.tokens,
        }

    def _passes(self) -> dict[str, Any]:
        repeats = self._options.passes
        if not repeats:
            return {}
        engine, folder = self._engine, target_folder(self._settings)
        return measure_passes(engine.pair, engine.chunk_tokens, folder, self._threads, repeats)


def _speedup(times: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Seconds of the target alone ÷ seconds with drafts: tokens per second with drafts ÷ without."""
    if not times:
        return {}
    alone, drafted = (sum(column) for column in zip(*times, strict=True))
    return {"tokens_per_s_ratio": ratio(alone, drafted), "interval": list(ratio_interval(times)), "runs": len(times)}


def _read(patterns: Sequence[str], count: int) -> list[str]:
    named = [path for pattern in patterns for path in sorted(Path().glob(pattern))]
    paths = named if patterns else standard_library()
    texts = [head(path.read_text(encoding="utf-8")) for path in paths if path.is_file()]
    if not texts:
        raise SettingsError("no files to take prompts from; name some with --files")
    return texts[:count]


def _agreement(ours: Sequence[int], theirs: Sequence[int]) -> float:
    """Share of places with the same token."""
    same = sum(a == b for a, b in zip(ours, theirs, strict=False))
    return same / max(len(ours), len(theirs), 1)


def _over(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or theirs is None else ratio(ours, theirs)


def _table(result: dict[str, Any]) -> Table:
    table = Table(title=f"{result['pair']} on {result['device']} ({result['dtype']})", show_header=False)
    for name, value in result.items():
        table.add_row(name, json.dumps(value) if isinstance(value, dict) else str(value))
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.engine", description="Pass cost and decoding speed, side by side with peers."
    )
    parser.add_argument("--pair", default="embedded", help="a pair by name, see `foretype pairs`")
    parser.add_argument("--dtype", default=None, help="arithmetic of the engine (default: its own choice)")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME", help="transformers, or the URL of a llama.cpp server"
    )
    parser.add_argument("--files", action="append", default=[], metavar="GLOB", help="default: the standard library")
    parser.add_argument("--prompts", type=at_least(1), default=len(FILES), metavar="N")
    parser.add_argument("--tokens", type=at_least(1), default=TOKENS, metavar="N", help="at most, per prompt")
    parser.add_argument("--cold", type=at_least(0), default=3, metavar="N", help="cold prompts")
    parser.add_argument(
        "--adversarial", type=at_least(0), default=6, metavar="N", help="prompts that no n-gram can continue"
    )
    parser.add_argument(
        "--passes", type=at_least(0), default=7, metavar="N", help="passes beside the stock model's; 0: none"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
