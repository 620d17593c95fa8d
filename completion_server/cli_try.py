"""`foretype try`: one suggestion through the real path, language server and engine, at a place in a file."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from completion_server.cli_options import Json, Pair
from completion_server.errors import SettingsError

CONTEXT_LINES = 5  # of the file, shown before the suggestion


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
        if len(parts) != 3 or not parts[0] or not all(part.isascii() and part.isdigit() for part in parts[1:]):
            raise SettingsError(f"{text!r} is no place in a file: write FILE:LINE:COL, for example main.py:12:8")
        return cls(Path(parts[0]), int(parts[1]), int(parts[2]))

    def read(self) -> str:
        """The text of the file. Raises SettingsError if it is no UTF-8 text or has no such position."""
        try:
            text = self.path.read_bytes().decode("utf-8")
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise SettingsError(f"{self.path} is not UTF-8 text") from error
        lines = split_lines(text)
        if not 1 <= self.line <= len(lines):
            raise SettingsError(f"{self.path} has {len(lines)} lines, there is no line {self.line}")
        if self.column > len(lines[self.line - 1]):
            raise SettingsError(
                f"line {self.line} of {self.path} has {len(lines[self.line - 1])} characters, "
                f"there is no column {self.column}"
            )
        return text


def split_lines(text: str) -> list[str]:
    """Lines as LSP counts them: ended by \\n, \\r\\n or \\r and nothing else; behind the last end is one more."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
