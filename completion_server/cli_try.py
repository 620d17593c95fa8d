"""`foretype try`: one suggestion through the real path, language server and engine, at a place in a file."""

import asyncio
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from completion_server import pairs
from completion_server.cli_engine import loaded_pair
from completion_server.cli_options import Json, Pair
from completion_server.errors import RequestError, SettingsError

if TYPE_CHECKING:
    from completion_server.protocol import State
    from lsp.text import Text

MOST_BYTES = 4 << 20  # of a file; an editor's documents are smaller
LONGEST_PLACE = 200  # characters of a wrong one that are quoted

FAILED = {
    "cancelled": "the request was cancelled: ask again",
    "error": "the request failed or took too long: ask again, or see `foretype doctor` and the engine's log",
    "loading": "the engine still loads its models: ask again, or see `foretype status`",
    "stale": "the request was overtaken: ask again",
    "superseded": "the request was overtaken: ask again",
    "unavailable": "no engine answers: `foretype doctor` finds out why",
}
"""What to tell a person of the outcomes of `foretype/trace` that are not an answer."""

NOTHING = {
    "empty": "what the model wrote stands there already, or would not help",
    "excluded": "the file is a secret, or its kind is switched off",
    "unwanted": "in the middle of a word an editor does not ask",
}
"""Why an answer may be that there is nothing to show."""

CONTEXT_LINES = 5  # of the file, shown before the suggestion
NUMBERS = (
    "ttft_ms",
    "e2e_ms",
    "queue_ms",
    "prompt_tokens",
    "cached_tokens",
    "computed_tokens",
    "drafted_tokens",
    "accepted_tokens",
    "target_passes",
)


def try_(
    place: Annotated[str, typer.Argument(metavar="FILE:LINE:COL", help="LINE from 1, COL in characters from 0.")],
    as_json: Json = False,
    pair: Pair = None,
) -> None:
    """One suggestion at a place in a file, from the language server as an editor gets it.

    Exit code 2 if it could not be had; that there is none here is no error.
    """
    where = Place.parse(place)
    text = where.read()
    suggestion, trace = asyncio.run(ask(where, str(text), pair))
    used = loaded_pair()
    if pair is not None and used not in (None, pair):
        pairs.choose(pairs.load_pairs(), pair)  # an engine that runs does not say that there is no such pair
        remedy = f"`foretype pairs use {pair}` first"
        typer.echo(f"foretype: the engine that runs has {used}, not {pair}: {remedy}", err=True)
    outcome = trace.get("outcome")
    numbers = {name: trace.get(name, 0) for name in NUMBERS}
    if as_json:
        typer.echo(json.dumps({"text": suggestion, "outcome": outcome, "pair": used, **numbers}))
    if outcome is None or outcome in FAILED:
        raise RequestError(FAILED.get(outcome or "", "the language server did not answer: ask again"))
    if as_json:
        return
    typer.echo("".join(shown_before(text, where)), nl=False)
    typer.secho(suggestion, dim=True, nl=False)
    typer.echo(text.line(where.line - 1)[where.column :] + "\n")
    if not suggestion:
        typer.echo(f"no suggestion here: {NOTHING.get(outcome, outcome)}")
    typer.echo("  ".join(f"{name} {round(value, 1)}" for name, value in numbers.items()))


async def ask(where: "Place", text: str, pair: str | None) -> tuple[str, Mapping[str, Any]]:
    """Open the file in an editor without a screen and ask once; the suggestion ("" for none) and its trace."""
    from completion_server.pull.progress import shown
    from lsp.headless import suggest_once

    with shown("engine") as progress:

        def on_state(state: "State") -> None:
            if state.phase == "loading":
                progress(state.detail, state.fraction or 0.0)

        return await suggest_once(where.path, text, where.line - 1, where.column, pair=pair, on_state=on_state)


@dataclass(frozen=True, slots=True)
class Place:
    """A cursor in a file: `line` counts from 1, `column` in code points from 0."""

    path: Path
    line: int
    column: int

    @classmethod
    def parse(cls, text: str) -> "Place":
        """Read FILE:LINE:COL; FILE may have colons itself. Raises SettingsError."""
        parts = text.rsplit(":", 2)
        if len(parts) != 3 or not parts[0] or not all(re.fullmatch("[0-9]{1,9}", part) for part in parts[1:]):
            shown = text if len(text) <= LONGEST_PLACE else f"{text[:LONGEST_PLACE]}..."
            raise SettingsError(f"{shown!r} is no place in a file: write FILE:LINE:COL, for example main.py:12:8")
        return cls(Path(parts[0]), int(parts[1]), int(parts[2]))

    def read(self) -> "Text":
        """The file. Raises SettingsError if it is no file of UTF-8 text, too large, or has no such position."""
        from lsp.text import Text

        try:
            text = Text(self._bytes().decode("utf-8"))
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise SettingsError(f"{self.path} is not UTF-8 text") from error
        if not 1 <= self.line <= text.line_count:
            raise SettingsError(f"{self.path} has {text.line_count} lines, there is no line {self.line}")
        if self.column > (length := len(text.line(self.line - 1))):
            raise SettingsError(
                f"line {self.line} of {self.path} has {length} characters, there is no column {self.column}"
            )
        return text

    def _bytes(self) -> bytes:
        with open(self.path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SettingsError(f"{self.path} is no file")
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise SettingsError(f"{self.path} is too large: at most {MOST_BYTES >> 20} MiB are read")
        return content


def _without_waiting(path: str, flags: int) -> int:
    """A pipe is opened even if nobody writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)


def shown_before(text: "Text", where: Place) -> list[str]:
    """The lines in front of the cursor and the part of its own line before it."""
    first = max(1, where.line - CONTEXT_LINES)
    return [text.line(number - 1) + "\n" for number in range(first, where.line)] + [
        text.line(where.line - 1)[: where.column]
    ]
