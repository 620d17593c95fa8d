"""`python -m bench.lossless`: decodes many prompts with every drafter and every k, and counts tokens that differ.

The reference is the same model without drafts. By default the models are tiny random ones in float64, whose arithmetic
leaves no doubt; `--pair NAME` takes the models of a pair, in fp32 or as `--dtype` says. Rows of many prompts share each
pass, so that the ragged batch is tried as well. Knows nothing of prompts' layout, editors or sockets.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from tokenizers import Tokenizer

from bench.arguments import at_least
from completion_server import pairs, pull
from completion_server.engine.draft_row import DraftRow
from completion_server.errors import ForetypeError
from completion_server.kv.memory import KvMemory
from completion_server.kv.slots import Row, Slot
from completion_server.models import loader
from completion_server.models.decoder import Decoder, Feed
from completion_server.models.device import choose_arithmetic
from completion_server.models.loader import LoadedModel
from completion_server.models.state_draft import is_state_draft
from completion_server.models.tiny import tiny_model, tiny_tokenizer
from completion_server.prefix import common_prefix
from speculative import (
    Corpus,
    Drafter,
    FixedPolicy,
    Generation,
    ModelDrafter,
    NgramDrafter,
    OpeningDrafter,
    Suggestions,
    TailDrafter,
)
from speculative.drafters import fakes

KS = (1, 2, 4, 8, 16)
SPARE = 64  # positions for drafts that will be rolled back, the over-long ones too

MakeDrafters = Callable[[Slot, Sequence[int]], Sequence[Drafter]]
"""Makes drafters from the row's slot and the whole true sequence, prompt and continuation; the first one begins."""


@dataclass(frozen=True, slots=True)
class Models:
    """A target and perhaps a model that drafts for it."""

    target: LoadedModel
    draft: LoadedModel | None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit code 1 if any token differed."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    try:
        models = _load(options.pair, options.dtype)
        result = compare(models, options.prompts, options.tokens, options.rows, options.seed, console, options.k or KS)
    except ForetypeError as error:
        console.print(f"lossless: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    sys.stdout.write(json.dumps(result) + "\n" if options.json else _text(result))
    return 1 if result["differences"] else 0


def compare(
    models: Models,
    prompts: int,
    tokens: int,
    rows: int,
    seed: int,
    console: Console | None = None,
    ks: Sequence[int] = KS,
) -> dict[str, Any]:
    """Decode `prompts` prompts greedily, `tokens` tokens each, `rows` at a time, with every drafter and every k."""
    texts = list(islice(_prompts(models.target, seed), prompts))
    truth = _decode_all(models, texts, tokens, rows, lambda slot, whole: (), k=0, truths=[[]] * prompts)  # noqa: ARG005
    whole = [text + continuation for text, continuation in zip(texts, truth, strict=True)]
    runs = [(name, k) for name in drafters(models) for k in ks]
    by_drafter: dict[str, int] = {}
    quiet = console is None or not console.is_terminal
    for name, k in track(runs, "drafters × k", console=console, disable=quiet):
        if console is not None and quiet and k == ks[0]:
            console.print(f"drafter {name}", highlight=False)
        make = drafters(models)[name]
        found = _decode_all(models, texts, tokens, rows, make, k, whole)
        different = sum(1 for a, b in zip(found, truth, strict=True) if a != b)
        by_drafter[name] = by_drafter.get(name, 0) + different
    return {
        "prompts": prompts,
        "tokens": tokens,
        "k": [0, *ks],
        "comparisons": prompts * len(runs),
        "differences": sum(by_drafter.values()),
        "by_drafter": by_drafter,
        "dtype": models.target.decoder.arithmetic,
        "model": models.target.decoder.model.config.model_type,
    }


def drafters(models: Models) -> dict[str, MakeDrafters]:
    """Every drafter there is, honest and adversarial, and how free ones go on behind another; made for one row."""

    def adversary(make: Callable[[fakes.Continue], Drafter]) -> MakeDrafters:
        return lambda _, whole: [make(lambda context, k: whole[len(context) : len(context) + k])]

    made: dict[str, MakeDrafters] = {
        "tail": lambda _, whole: [TailDrafter([*whole[:-4], *whole[-2:]])],  # right at first, then shifted
        "n-gram": lambda _slot, _whole: [NgramDrafter()],
        "n-gram of suggestions": lambda _, whole: [NgramDrafter([_suggestions(whole)])],
        "tail, n-gram": lambda _, whole: [TailDrafter(whole[:-6]), NgramDrafter()],
        "opening, tail, n-gram": lambda _, whole: [
            OpeningDrafter(whole[-12:-9]),
            TailDrafter(whole[:-6]),
            NgramDrafter([Corpus(whole[-8:])]),
        ],
        "oracle": adversary(fakes.oracle),
        "always-wrong": adversary(fakes.always_wrong),
        "half-right": adversary(fakes.half_right),
        "over-long": adversary(fakes.over_long),
        "out-of-vocabulary": adversary(fakes.out_of_vocabulary),
        "scrambled": lambda _slot, _whole: [fakes.scrambled()],
        "empty": lambda _slot, _whole: [fakes.empty()],
    }
    if models.draft is not None:
        draft = models.draft
        memory = draft.decoder.memory(64, 256)
        size = draft.tokenizer.real_size
        ids = torch.arange(0, size, 2)
        made["model"] = lambda slot, _: [ModelDrafter(DraftRow(draft.decoder, memory, slot), size, chunk=64)]
        made["model with a reduced output"] = lambda slot, _: [
            ModelDrafter(_ReducedRow(DraftRow(draft.decoder, memory, slot), ids), size, output_ids=ids, chunk=64)
        ]
    return made


def _suggestions(whole: Sequence[int]) -> Suggestions:
    """What was suggested before: the truth, then something that begins like it."""
    said = Suggestions()
    said.add(whole[:-8], whole[-8:])
    said.add(whole[:-4], whole[-2:])
    return said


class _ReducedRow:
    """A draft's row of which only the output rows of `ids` are computed."""

    def __init__(self, row: DraftRow, ids: torch.Tensor) -> None:
        self._row = row
        self._ids = ids

    def sync(self, tokens: Sequence[int]) -> int:
        return self._row.sync(tokens)

    def extend(self, tokens: Sequence[int]) -> torch.Tensor:
        return self._row.extend(tokens)[self._ids]


def _decode_all(
    models: Models,
    prompts: Sequence[list[int]],
    tokens: int,
    rows: int,
    make: MakeDrafters,
    k: int,
    truths: Sequence[Sequence[int]],
) -> list[list[int]]:
    """Continuations of all prompts, `rows` of them decoded side by side."""
    longest = max(map(len, prompts)) + tokens + SPARE
    memory = models.target.decoder.memory(rows, longest)
    found: list[list[int]] = []
    for first in range(0, len(prompts), rows):
        group = zip(prompts[first : first + rows], truths[first : first + rows], strict=True)
        decoding = [
            _Row(models.target, Slot(i, Row(longest), Row(longest)), prompt, tokens, make, k, truth)
            for i, (prompt, truth) in enumerate(group)
        ]
        _decode_side_by_side(models.target.decoder, memory, decoding)
        found += [list(row.generation.generated) for row in decoding]
    return found


def _decode_side_by_side(decoder: Decoder, memory: KvMemory, rows: Sequence["_Row"]) -> None:
    while running := [row for row in rows if row.generation.finished is None]:
        feeds = [row.propose() for row in running]
        for row, feed, logits in zip(running, feeds, decoder.forward(memory, feeds), strict=True):
            row.commit(feed, logits)


class _Row:
    """One prompt being decoded: its slot, and what it feeds."""

    def __init__(
        self,
        target: LoadedModel,
        slot: Slot,
        prompt: list[int],
        tokens: int,
        make: MakeDrafters,
        k: int,
        truth: Sequence[int],
    ) -> None:
        self._slot = slot
        self.generation = Generation(
            prompt,
            max_new_tokens=tokens,
            stop_ids=target.tokenizer.eos_ids,
            vocab_size=target.tokenizer.real_size,
            policy=FixedPolicy(k),
            drafters=make(slot, truth),
        )

    def propose(self) -> Feed:
        row = self._slot.target
        pending = self.generation.tokens[len(row) :]
        draft = self.generation.propose(16, tail=len(pending) - 1)
        return Feed(self._slot.index, len(row), [*pending, *draft.tokens], 1 + len(draft.tokens))

    def commit(self, feed: Feed, logits: torch.Tensor) -> None:
        self.generation.commit(logits)
        row = self._slot.target
        row.append(feed.tokens)
        row.rollback(min(common_prefix(row.tokens, self.generation.tokens), len(self.generation.tokens) - 1))


def _prompts(target: LoadedModel, seed: int) -> Iterator[list[int]]:
    """Endless prompts of 4 to 96 tokens, cut out of this project's own source."""
    tokenizer = Tokenizer.from_str(target.tokenizer.json)
    source = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py")))
    ids = tokenizer.encode(source, add_special_tokens=False).ids
    rng = random.Random(seed)
    while True:
        length = rng.randint(4, 96)
        begin = rng.randrange(len(ids) - length)
        yield ids[begin : begin + length]


def _load(pair_name: str | None, dtype: str) -> Models:
    if pair_name is None:
        tokenizer = tiny_tokenizer()
        return Models(tiny_model(tokenizer, seed=1), tiny_model(tokenizer, seed=2, layers=1))
    pair = pairs.choose(pairs.load_pairs(), pair_name)
    cpu, arithmetic = torch.device("cpu"), choose_arithmetic(dtype, torch.device("cpu"))
    target = loader.load(pull.locate(pair.target), cpu, arithmetic)
    draft = pull.locate(pair.draft) if pair.draft else None
    if draft is None or is_state_draft(draft):  # one that goes on from the target's states is compared in the engine
        return Models(target, None)
    return Models(target, loader.load(draft, cpu, arithmetic))


def _text(result: dict[str, Any]) -> str:
    return (
        f"{result['comparisons']:,} comparisons ({result['prompts']} prompts of {result['tokens']} tokens, "
        f"{len(result['by_drafter'])} drafters, k in {result['k'][1:]}), {result['model']} in {result['dtype']}: "
        f"{result['differences']} differ\n"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.lossless", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--pair", help="take this pair's models instead of tiny ones in float64")
    parser.add_argument("--dtype", default="float32", help="of the pair's models: float32, float64 or int8")
    parser.add_argument("--prompts", type=at_least(1), default=2_000)
    parser.add_argument("--tokens", type=at_least(1), default=12, help="per prompt")
    parser.add_argument("--rows", type=at_least(1), default=50, help="prompts decoded side by side")
    parser.add_argument(
        "--k", type=at_least(0), action="append", metavar="K", help=f"drafted tokens, may be repeated (default: {KS})"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return parser


if __name__ == "__main__":
    sys.exit(main())
