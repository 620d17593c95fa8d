"""`python -m bench.prompt_cost`: what a key costs beside the model, in a long file with other files open.

Types real code key by key in the middle of a document of thousands of lines and times, in this process and on one
thread, what the front end and the engine do with text: `context` (the edit, the window, cells and snippets, the message
that is sent), `prompt` (tokens and layout), `trim` (the author's next lines as the model's answer: parsed, cut,
trimmed). Runs no model and measures no socket.
"""

import argparse
import gc
import json
import lzma
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer

from bench.arguments import at_least
from bench.keystrokes import position
from bench.percentiles import summary
from bench.places import in_lines, middle
from bench.sources import read_sources, standard_library
from bench.stock import target_folder
from bench.typist import Session, Source
from completion_server.errors import ForetypeError
from completion_server.prompts import DocumentPrompt, Layout, PromptBudget, detect
from completion_server.protocol import Context
from completion_server.settings import load
from completion_server.tokenization import TextTokenizer
from lsp.context import build_context
from lsp.document import Document
from lsp.neighbours import Neighbours
from lsp.presenter import Presenter
from lsp.suggestion import Suggestion
from lsp.text import Position
from lsp.window import Window

LINES, KEYS, OTHERS = 16_000, 600, 4
GOAL_MS = 2.0
"""The p95 of all parts together that counts as good."""

_ANSWER = 240  # code points of the author's text that stand for the model's answer
_CONTEXT = 8_000  # tokens: what the engine's default leaves for a prompt

_T = TypeVar("_T")


@dataclass(slots=True)
class Times:
    """Milliseconds of each key, by part."""

    parts: dict[str, list[float]] = field(default_factory=dict)

    def of(self, part: str, work: Callable[[], _T]) -> _T:
        start = time.perf_counter()
        result = work()
        self.parts.setdefault(part, []).append((time.perf_counter() - start) * 1_000)
        return result

    def summary(self) -> dict[str, Any]:
        total = [sum(key) for key in zip(*self.parts.values(), strict=True)]
        return {part: summary(times) for part, times in {**self.parts, "total": total}.items()}


@dataclass
class OpenFile:
    """Another file in the editor: what snippets come from."""

    document: Document
    path: str
    excluded: bool = False
    last_cursor: Position | None = None


class Desk:
    """One long document in which somebody types, and a few other files that are open."""

    def __init__(self, session: Session, others: Sequence[Source], tokenizer: TextTokenizer) -> None:
        self.document = _document("long.py", session.before + session.after)
        self.cursor = Position(*position(session.before))
        self.layout = Layout(detect(tokenizer)[0], tokenizer)
        budget = PromptBudget().within(_CONTEXT, plain=self.layout.plain)
        self._window = Window(self.document.text)
        self._presenter = Presenter(self.document)
        self._prompt = DocumentPrompt(tokenizer, self.layout, budget)
        files = [OpenFile(_document(source.path.name, source.text), source.path.name) for source in others]
        self._neighbours = Neighbours(lambda _: [], lambda _: None, lambda: files)
        self._typed = 0
        self._text = "".join(session.keys)

    def key(self, key: str, times: Times) -> None:
        context = times.of("context", lambda: self._type(key))
        times.of("prompt", lambda: self._prompt.build(context))
        self._typed += len(key)
        said = self._text[self._typed : self._typed + _ANSWER]
        times.of("trim", lambda: self._trim(said, context))

    def _type(self, key: str) -> Context:
        edit = self.document.text.replace(self.cursor, self.cursor, key)
        self._window.on_edit(edit)
        self.cursor = edit.new_end
        around = self._neighbours.around(self.document, self.cursor)
        return build_context(self.document, self._window, self.cursor, "long.py", around)

    def _trim(self, said: str, context: Context) -> None:
        suggestion = Suggestion(self.cursor)
        self._presenter.fill(suggestion, said, (), context)
        self._presenter.ghost(suggestion, self.cursor, invoked=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit code 1 if the p95 of all parts together is above the goal, 2 if it was not measured."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    try:
        result = _run(options)
    except (ForetypeError, OSError, ValueError) as error:
        console.print(f"bench.prompt_cost: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console().print(_table(result))
    return 0 if result["met"] else 1


def _run(options: argparse.Namespace) -> dict[str, Any]:
    sources = read_sources(options.files or [str(path) for path in standard_library()])
    session = in_lines(middle(sources, options.keys + _ANSWER), options.lines, sources, options.seed)
    desk = Desk(session, sources[:OTHERS], _tokenizer(options))
    times = Times()
    desk.key(session.keys[0], Times())  # what is prepared at the first key is not what a key costs
    gc.collect()
    keys = session.keys[1 : options.keys]
    for key in keys:
        desk.key(key, times)
    found = times.summary()
    return {
        "lines": desk.document.text.line_count,
        "keys": len(keys),
        "layout": desk.layout.family.name,
        "ms": found,
        "goal_ms": GOAL_MS,
        "met": found["total"]["p95"] <= GOAL_MS,
    }


def _tokenizer(options: argparse.Namespace) -> TextTokenizer:
    if options.tokenizer is None:
        path = target_folder(load({"pair": options.pair})) / "tokenizer.json"
    else:
        path = Path(options.tokenizer)
    with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
        return TextTokenizer(Tokenizer.from_str(file.read().decode("utf-8")))


def _document(name: str, text: str) -> Document:
    return Document(name, f"file:///{name}", text, 1, "python")


def _table(result: dict[str, Any]) -> Table:
    title = f"a key in {result['lines']} lines, layout {result['layout']}, {result['keys']} keys (ms)"
    table = Table(title=title)
    for name in ("", "p50", "p95", "p99"):
        table.add_column(name)
    for part, values in result["ms"].items():
        table.add_row(part, *(f"{values[name]:.2f}" for name in ("p50", "p95", "p99")))
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.prompt_cost", description="Tokens, prompt and trimming per key, without a model."
    )
    parser.add_argument("--pair", default="embedded", help="whose tokenizer and layout, see `foretype pairs`")
    parser.add_argument("--tokenizer", metavar="FILE", help="a tokenizer.json in its place, perhaps compressed (.xz)")
    parser.add_argument("--files", action="append", metavar="GLOB", help="default: modules of the standard library")
    parser.add_argument("--lines", type=at_least(1), default=LINES, metavar="N", help="length of the document")
    parser.add_argument("--keys", type=at_least(2), default=KEYS, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
