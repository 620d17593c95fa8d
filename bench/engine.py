"""`python -m bench.engine`: what passes cost and how fast the engine decodes, beside the same weights elsewhere.

The engine runs in this process, without sockets and editors. Every prompt is decoded three times in turn: by the target
alone, with drafts, and by each peer, so that a noisy machine is noisy for all. Text with and without drafts must be the
same. Ratios are ours divided by theirs, of medians and of totals from the one run. Knows nothing of LSP.
"""

import argparse
import json
import statistics
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.peers import Clock, Peer, make_peer
from completion_server.engine.engine import Engine
from completion_server.engine.job import Job
from completion_server.engine.loading import load_engine
from completion_server.errors import ForetypeError, SettingsError
from completion_server.protocol import Complete, Context, Decoding, EngineMessage, Limits, Result, Usage, Warm
from completion_server.settings import load

FILES = (
    *("argparse", "ast", "calendar", "configparser", "csv", "difflib"),
    *("heapq", "pickle", "shlex", "statistics", "textwrap", "zipfile"),
)
CHARACTERS = 3_000  # of each file: the prompt
TOKENS = 48
COLD_TOKENS = 1_500


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
        settings = load({"pair": options.pair, "dtype": options.dtype})
        self._engine: Engine = load_engine(settings)
        self._peers: dict[str, Peer] = {name: make_peer(name, settings) for name in options.peer}
        self._requests = 0

    def run(self) -> dict[str, Any]:
        prompts = _read(self._options.files, self._options.prompts)
        drafted, alone = Clock(), Clock()
        same_tokens: dict[str, list[float]] = {name: [] for name in self._peers}
        differing, usages = 0, []
        with Progress(console=self._console, transient=True, disable=not self._console.is_terminal) as progress:
            task = progress.add_task("decoding", total=len(prompts))
            for prompt in prompts:
                usage, text = self._ours(prompt, alone, drafting=False)
                other_usage, other = self._ours(prompt, drafted, drafting=True)
                usages.append(other_usage)
                differing += text != other
                for name, peer in self._peers.items():
                    tokens = peer.decode(prompt, max(1, usage.completion_tokens))
                    same_tokens[name].append(_agreement(peer.encode(text), tokens))
                progress.advance(task)
            for number in range(self._options.cold):
                text = f"# {number}\n" + "\n".join(prompts)
                drafted.cold_ttft_ms.append(self._cold(text))
                for peer in self._peers.values():
                    peer.cold(text, COLD_TOKENS)
        return self._report(drafted, alone, differing, usages, same_tokens)

    def _ours(self, prompt: str, clock: Clock, *, drafting: bool) -> tuple[Usage, str]:
        """Decode warm; the engine remembers nothing of it but keys and values."""
        context = Context("bench", 1, prompt, "\n", language="python")
        self._ask(Warm(self._next(), context))
        began = time.perf_counter()
        result = self._ask(
            Complete(self._next(), context, Limits(self._options.tokens, 10_000), Decoding(drafting=drafting))
        )
        clock.add(result.usage.completion_tokens, time.perf_counter() - began)
        clock.warm_ttft_ms.append(result.usage.ttft_ms)
        self._engine.disconnect(0)
        return result.usage, result.text

    def _cold(self, text: str) -> float:
        """Milliseconds to the first token of a prompt of about `COLD_TOKENS` tokens that was never seen."""
        self._engine.pair.slots.clear()
        characters = len(self._engine.pair.text.decode(self._engine.pair.text.encode(text)[:COLD_TOKENS]))
        context = Context("cold", 1, text[:characters], "", language="python")
        result = self._ask(Complete(self._next(), context, Limits(1, 1)))
        self._engine.disconnect(0)
        return result.usage.ttft_ms

    def _ask(self, request: Complete | Warm) -> Any:
        replies: list[EngineMessage] = []
        self._engine.add(Job(request.id, 0, request, time.perf_counter(), replies.append, on_close=lambda _: True))
        while self._engine.busy:
            self._engine.step()
        if isinstance(request, Complete) and not isinstance(replies[-1], Result):
            raise ForetypeError(f"the engine answered with {type(replies[-1]).__name__}")
        return replies[-1]

    def _next(self) -> int:
        self._requests += 1
        return self._requests

    def _report(
        self,
        with_drafts: Clock,
        without: Clock,
        differing: int,
        usages: Sequence[Usage],
        same_tokens: dict[str, list[float]],
    ) -> dict[str, Any]:
        pair = self._engine.pair
        ours, alone = with_drafts.summary(), without.summary()
        peers = {
            name: {**peer.summary(), "same_tokens": round(statistics.mean(same_tokens[name]), 4)}
            for name, peer in self._peers.items()
        }
        drafted, accepted = sum(u.drafted_tokens for u in usages), sum(u.accepted_tokens for u in usages)
        return {
            "pass_ms": {str(width): round(ms, 2) for width, ms in pair.costs.target_ms.items()},
            **ours,
            "tokens_per_s_target_only": alone["tokens_per_s"],
            "speedup_by_drafting": _ratio(ours["tokens_per_s"], alone["tokens_per_s"]),
            "differing_texts": differing,
            "draft_acceptance_rate": _ratio(accepted, drafted),
            "acceptance_length": _ratio(sum(u.completion_tokens for u in usages), sum(u.target_passes for u in usages)),
            "peers": peers,
            "ratios": {name: {key: _ratio(ours[key], values[key]) for key in ours} for name, values in peers.items()},
            "pair": pair.name,
            "dtype": pair.target.arithmetic,
            "device": str(pair.target.device),
            "prompts": len(usages),
            "tokens": self._options.tokens,
        }


def _read(patterns: Sequence[str], count: int) -> list[str]:
    if patterns:
        paths = [path for pattern in patterns for path in sorted(Path().glob(pattern))]
    else:
        library = Path(sysconfig.get_paths()["stdlib"])
        paths = [library / f"{name}.py" for name in FILES]
    texts = [_head(path.read_text(encoding="utf-8")) for path in paths if path.is_file()]
    if not texts:
        raise SettingsError("no files to take prompts from; name some with --files")
    return texts[:count]


def _head(text: str) -> str:
    """Whole lines, about `CHARACTERS` long."""
    return text[: text.rfind("\n", 0, CHARACTERS) + 1]


def _agreement(ours: Sequence[int], theirs: Sequence[int]) -> float:
    """Share of places with the same token."""
    same = sum(a == b for a, b in zip(ours, theirs, strict=False))
    return same / max(len(ours), len(theirs), 1)


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return round(ours / theirs, 4) if ours is not None and theirs else None


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
    parser.add_argument("--prompts", type=int, default=len(FILES), metavar="N")
    parser.add_argument("--tokens", type=int, default=TOKENS, metavar="N", help="at most, per prompt")
    parser.add_argument("--cold", type=int, default=3, metavar="N", help="cold prompts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
