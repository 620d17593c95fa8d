"""`python -m bench.drafts`: what each drafter is worth, on files that you name.

At places in the middle of each file, with the text in front of the cursor and behind it, the same suggestion is decoded
by the target alone, with what is found in the text, with the draft model, and with all of it: in turns of random order,
the prompt's keys and values ready, so that a noisy machine is noisy for all. The texts must be equal. Knows nothing of
editors.
"""

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import Progress

from bench.arguments import at_least
from bench.drafts_report import report
from bench.drafts_run import MODES, Run, decode, engines
from bench.sources import read_sources
from bench.typist import Source
from completion_server.engine.engine import Engine
from completion_server.engine.loading import load_engine
from completion_server.errors import ForetypeError, SettingsError
from completion_server.protocol import Context
from completion_server.settings import load

_LEAST = 8  # characters of a line that somebody types in
_LANGUAGES = {".py": "python", ".js": "javascript", ".ts": "typescript", ".h": "cpp", ".rs": "rust", ".go": "go"}


@dataclass(frozen=True, slots=True)
class Place:
    """A cursor in a file."""

    source: Source
    offset: int

    @property
    def language(self) -> str:
        suffix = self.source.path.suffix
        return _LANGUAGES.get(suffix, suffix.removeprefix("."))

    def context(self, document: str) -> Context:
        text = self.source.text
        return Context(document, 1, text[: self.offset], text[self.offset :], language=self.language)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit code 1 if a text differed from that of the target alone."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    try:
        found = places(read_sources(options.files), options.places, options.seed)
        if not found:
            raise SettingsError("no line in these files is long enough to type in")
        base = load_engine(load({"pair": options.pair, "dtype": options.dtype}))
        if base.pair.draft is None:
            raise SettingsError(f"pair {base.pair.name} has no draft model; name another with --pair")
        runs = _measure(engines(base), found, options, console)
    except (ForetypeError, OSError) as error:
        console.print(f"bench.drafts: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    result = {**report(runs), **_facts(base, options)}
    sys.stdout.write(json.dumps(result, indent=None if options.json else 1) + "\n")
    return 0 if result["differing_texts"] == 0 else 1


def places(sources: Sequence[Source], count: int, seed: int) -> list[Place]:
    """`count` in the lower four fifths of each file, every second one inside a line, the others in front of one."""
    dice = random.Random(seed)
    found = []
    for source in sources:
        lines = source.text.splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        possible = [i for i in range(len(lines) // 5, len(lines)) if len(lines[i].strip()) >= _LEAST]
        for number, i in enumerate(dice.sample(possible, min(count, len(possible)))):
            indent = len(lines[i]) - len(lines[i].lstrip())
            inside = dice.randrange(indent + 1, len(lines[i].rstrip())) if number % 2 else indent
            found.append(Place(source, starts[i] + inside))
    return found


def _measure(
    by_mode: Mapping[str, Engine], found: Sequence[Place], options: argparse.Namespace, console: Console
) -> list[Run]:
    """Every place in every mode, `rounds` times while its prompt is ready."""
    dice = random.Random(options.seed)
    runs = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("decoding", total=len(found) * options.rounds)
        for number, place in enumerate(found):
            for round_ in range(options.rounds):
                for mode in dice.sample(MODES, len(MODES)):
                    context = place.context(f"place-{number}")
                    text, seconds, usage = decode(by_mode[mode], context, options.tokens)
                    counts = usage.completion_tokens, seconds, usage.target_passes, usage.drafts
                    runs.append(Run(mode, place.source.path.name, place.language, (round_, number), text, *counts))
                progress.advance(task)
    return runs


def _facts(base: Engine, options: argparse.Namespace) -> dict[str, Any]:
    pair = base.pair
    return {
        "pass_ms": {str(width): round(ms, 2) for width, ms in pair.costs.target_ms.items()},
        "draft_step_ms": {name: round(ms, 3) for name, ms in pair.costs.draft_step_ms.items()},
        "pair": pair.name,
        "draft": pair.draft.name if pair.draft else None,
        "dtype": pair.target.arithmetic,
        "device": str(pair.target.device),
        "places_per_file": options.places,
        "rounds": options.rounds,
        "tokens": options.tokens,
        "seed": options.seed,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.drafts", description="The target alone, n-grams, the draft model, and all together."
    )
    parser.add_argument("--pair", default="embedded", help="a pair with a draft model, see `foretype pairs`")
    parser.add_argument("--dtype", default=None, help="arithmetic of the engine (default: its own choice)")
    parser.add_argument("--files", action="append", required=True, metavar="GLOB", help="may be repeated")
    parser.add_argument("--places", type=at_least(1), default=2, metavar="N", help="in each file (default: 2)")
    parser.add_argument("--rounds", type=at_least(1), default=3, metavar="N", help="of all places (default: 3)")
    parser.add_argument("--tokens", type=at_least(1), default=48, metavar="N", help="at most, at each place")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses the places (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
