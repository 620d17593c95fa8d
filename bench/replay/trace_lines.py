"""One line of a trace as an action, and back: the schema, field by field. Pure; knows no files and no documents."""

from collections.abc import Callable, Mapping
from typing import Any

from bench.replay.actions import Accept, Action, Close, Delete, Insert, Move, Open, Switch
from bench.replay.trace_documents import TraceFault

HEADER = {"foretype_trace": 1}
"""The first line: a file of this kind, in this version of the schema."""

MOST_SECONDS = 24 * 3_600.0
MOST_TEXT = 4 << 20  # code points of a document
MOST_KEY = 64 << 10  # of an insert or an accept
MOST_COUNT = 1_000_000  # of positions, versions and deleted code points

_Check = Callable[[str, Any], Any]


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TraceFault(f'"{name}" must be a number of seconds')
    if not 0 <= value <= MOST_SECONDS:  # nor is infinity, or an int that no float can hold
        raise TraceFault(f'"{name}" must be from 0 to {MOST_SECONDS:g} seconds')
    return float(value)


def _whole(least: int) -> _Check:
    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_COUNT:
            raise TraceFault(f'"{name}" must be a whole number from {least} to {MOST_COUNT}')
        return value

    return check


def _text(least: int, most: int) -> _Check:
    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or not least <= len(value) <= most:
            raise TraceFault(f'"{name}" must be text of {least} to {most} characters')
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise TraceFault(f'"{name}" holds half a character')
        return value

    return check


def _document(name: str, value: Any) -> str:
    text: str = _text(1, 200)(name, value)
    if text.startswith("/") or "\\" in text or "\0" in text or ".." in text.split("/"):
        raise TraceFault(f'"{name}" must be a relative path with /, without ".."')
    return text


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TraceFault(f'"{name}" must be true or false')
    return value


_VERSION = {"version": _whole(1)}
_PLACE = {"line": _whole(0), "column": _whole(0)}
_SLIP = {"slip": _flag}

_ACTIONS: Mapping[str, tuple[type[Any], Mapping[str, _Check], Mapping[str, _Check]]] = {
    "open": (Open, {"document": _document, "text": _text(0, MOST_TEXT), **_PLACE, **_VERSION}, {}),
    "switch": (Switch, {"document": _document}, {}),
    "close": (Close, {"document": _document}, {}),
    "move": (Move, _PLACE, {}),
    "insert": (Insert, {"text": _text(1, MOST_KEY), **_VERSION}, _SLIP),
    "delete": (Delete, {"count": _whole(1), **_VERSION}, _SLIP),
    "accept": (Accept, {"text": _text(1, MOST_KEY), **_VERSION}, {}),
}
"""By the name in "action": what it becomes, its fields beside "time", and those that may be left out."""

_NAMES = {kind: name for name, (kind, _, _) in _ACTIONS.items()}


def action_of(line: Any) -> tuple[Action, int | None]:
    """The action of a line, and the version of its document, None where it has none. Raises `TraceFault`."""
    if not isinstance(line, dict):
        raise TraceFault("not a JSON object on one line")
    name = line.get("action")
    if not isinstance(name, str) or name not in _ACTIONS:
        raise TraceFault(f'"action" must be one of {", ".join(_ACTIONS)}')
    kind, needed, possible = _ACTIONS[name]
    allowed = ("time", "action", *needed, *possible)
    if any(field not in allowed for field in line):
        raise TraceFault(f'a field that "{name}" does not know; it has {", ".join(allowed)}')
    if missing := [field for field in ("time", *needed) if field not in line]:
        raise TraceFault(f'"{name}" lacks {", ".join(missing)}')
    checks = {**needed, **possible}
    values = {field: checks[field](field, line[field]) for field in checks if field in line}
    version = values.pop("version", None)
    return kind(at=_seconds("time", line["time"]), **values), version


def line_of(action: Action, version: int | None) -> dict[str, Any]:
    """What `action_of` reads."""
    name = _NAMES[type(action)]
    _, needed, possible = _ACTIONS[name]
    line: dict[str, Any] = {"time": round(action.at, 6), "action": name}
    line |= {field: version if field == "version" else getattr(action, field) for field in needed}
    return line | {field: True for field in possible if getattr(action, field)}
