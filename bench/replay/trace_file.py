"""A trace: what somebody did at an editor, as JSON lines, so that it can be done again. docs/replay.md has the schema.

Reading is strict, because what is typed wrongly is measured wrongly: a line that breaks the schema, or that could not
be done in the documents as the lines before left them, is a `SettingsError` with its number and what is allowed there.
No message quotes a line: its text may be a user's.
"""

import json
import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from bench.replay.actions import Action
from bench.replay.trace_documents import Documents, TraceFault
from bench.replay.trace_lines import HEADER, action_of, line_of
from completion_server.errors import SettingsError

MOST_BYTES = 64 << 20
MOST_LINES = 200_000


def read_trace(path: Path) -> list[Action]:
    """The actions in `path`. Raises `SettingsError`, in one line for a person."""
    number = 0
    documents = Documents()
    actions: list[Action] = []
    try:
        if path.exists() and not path.is_file():
            raise SettingsError(f"{path}: not a file")
        if path.stat().st_size > MOST_BYTES:
            raise SettingsError(f"{path}: a trace may have {MOST_BYTES >> 20} MiB")
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if number > MOST_LINES:
                    raise TraceFault(f"a trace may have {MOST_LINES} lines")
                found = _json(text)
                if number == 1:
                    _check_header(found)
                    continue
                action, version = action_of(found)
                documents.do(action, version)
                actions.append(action)
    except TraceFault as fault:
        raise SettingsError(f"{path}, line {number}: {fault}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}, behind line {number}: not UTF-8") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    if not actions:
        raise SettingsError(f"{path}: nothing is done in this trace")
    return actions


def check_place(path: Path) -> None:
    """Raises `SettingsError` where `write_trace` could not write: better now than after minutes of typing."""
    if path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise SettingsError(f"{path}: no trace can be written there")


def write_trace(path: Path, actions: Sequence[Action]) -> None:
    """Write what `read_trace` reads, for its owner alone: it has the text of documents. Raises `SettingsError`."""
    documents = Documents()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        if path.is_file():  # perhaps it was there, for all to read
            os.fchmod(descriptor, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - of a descriptor
            lines = (line_of(action, documents.do(action)) for action in actions)
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in chain([HEADER], lines))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None


def _check_header(found: Any) -> None:
    if found != HEADER:
        raise TraceFault(f"a trace begins with {json.dumps(HEADER)}")


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise TraceFault("not a JSON object on one line") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
