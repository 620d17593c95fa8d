"""What the fields of messages may hold, read off their type hints and `bounds`, and how it looks as plain values.

Every field of every message passes here, twice on its way, between a key and its suggestion: so all that can be known
of a class is worked out once, and where a value was wrong only once one is. Knows nothing of bytes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from completion_server.protocol.bounds import AMOUNT, ENTRIES, NUMBER, TEXT, Bound, bound_of

Check = Callable[[Any], Any]


class WrongValueError(Exception):
    """A value that its field may not hold. `path` grows on the way up; the value itself is not told."""

    def __init__(self, why: str, path: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.path = path

    def inside(self, place: str) -> "WrongValueError":
        self.path = place + self.path
        return self


@dataclass(frozen=True, slots=True)
class Kind:
    """`read` takes a plain value to a typed one, `write` back; both raise `WrongValueError` for the same values."""

    read: Check
    write: Check


@cache
def record_kind(record: type[Any]) -> Kind:
    """Of a dataclass, as a dict of its fields. Raises `TypeError` for a hint that no message uses yet."""
    hints = get_type_hints(record)
    kinds = [(field.name, _kind(hints[field.name], bound_of(record, field.name))) for field in fields(record)]
    readers = [(name, kind.read) for name, kind in kinds]
    writers = [(name, kind.write) for name, kind in kinds]
    known = len(kinds)

    def read(value: object) -> Any:
        if type(value) is not dict:
            raise WrongValueError("not a map")
        found = []
        name = ""
        try:
            for name, read_field in readers:
                found.append(read_field(value[name]))
        except KeyError:
            raise WrongValueError("missing", f".{name}") from None
        except WrongValueError as wrong:
            raise wrong.inside(f".{name}") from None
        if len(value) > known:
            raise WrongValueError("unknown field")  # without its name, which is the sender's text
        return record(*found)

    def write(value: object) -> dict[str, Any]:
        if type(value) is not record:
            raise WrongValueError("not a map")
        found = {}
        name = ""
        try:
            for name, write_field in writers:
                found[name] = write_field(getattr(value, name))
        except WrongValueError as wrong:
            raise wrong.inside(f".{name}") from None
        return found

    return Kind(read, write)


def _kind(hint: Any, bound: Bound | None) -> Kind:
    """Raises TypeError for a hint that no message uses yet: add it here together with a test."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return record_kind(hint)
    if origin in (Union, UnionType) and len(arguments) == 2 and arguments[1] is NoneType:
        inner = _kind(arguments[0], bound)
        return Kind(_or_none(inner.read), _or_none(inner.write))
    if origin is tuple and arguments[1:] == (...,):
        entry, bound = _kind(arguments[0], None), bound or ENTRIES
        return Kind(_sequence(list, tuple, entry.read, bound), _sequence(tuple, list, entry.write, bound))
    check = _counters(bound or ENTRIES) if hint == dict[str, int] else _scalar(hint, bound)
    return Kind(check, check)


def _scalar(hint: Any, bound: Bound | None) -> Check:
    if hint is bool:
        return _boolean
    if hint is int:
        return _number(bound or NUMBER)
    if hint is float:
        return _amount(bound or AMOUNT)
    if hint is str:
        return _text(bound or TEXT)
    if get_origin(hint) is Literal:
        return _choice(get_args(hint))
    raise TypeError(f"no kind for the type hint {hint}")


def _boolean(value: object) -> bool:
    if type(value) is not bool:
        raise WrongValueError("not a bool")
    return value


def _number(bound: Bound) -> Check:
    low, high = bound.low, bound.high

    def check(value: object) -> int:
        if type(value) is not int:
            raise WrongValueError("not an int")
        if not low <= value <= high:
            raise WrongValueError(f"must be between {low} and {high}")
        return value

    return check


def _amount(bound: Bound) -> Check:
    low, high = bound.low, bound.high
    whole = _number(NUMBER)

    def check(value: object) -> float:
        if type(value) is int:
            value = float(whole(value))  # many languages write 1.0 as 1
        if type(value) is not float or not math.isfinite(value):
            raise WrongValueError("not a finite number")
        if not low <= value <= high:
            raise WrongValueError(f"must be between {low} and {high}")
        return value

    return check


def _text(bound: Bound) -> Check:
    low, high = bound.low, bound.high

    def check(value: object) -> str:
        if not isinstance(value, str):
            raise WrongValueError("not text")
        if not low <= len(value) <= high:
            raise WrongValueError(f"must have between {low} and {high} characters")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:  # it quotes the text
                raise WrongValueError("not valid UTF-8") from None
        return value

    return check


def _choice(choices: tuple[object, ...]) -> Check:
    def check(value: object) -> object:
        if not isinstance(value, str) or value not in choices:
            raise WrongValueError(f"must be one of {', '.join(map(str, choices))}")
        return value

    return check


def _or_none(check_value: Check) -> Check:
    return lambda value: None if value is None else check_value(value)


def _sequence(given: type[Any], made: type[Any], check_entry: Check, bound: Bound) -> Check:
    low, high = bound.low, bound.high

    def check(value: object) -> Any:
        if not isinstance(value, given):
            raise WrongValueError("not a list")
        if not low <= len(value) <= high:
            raise WrongValueError(f"must have between {low} and {high} entries")
        found: list[Any] = []
        try:
            for entry in value:
                found.append(check_entry(entry))  # noqa: PERF401 - its length is the index of what is wrong
        except WrongValueError as wrong:
            raise wrong.inside(f"[{len(found)}]") from None
        return found if made is list else made(found)

    return check


def _counters(bound: Bound) -> Check:
    low, high = bound.low, bound.high
    key, count = _text(TEXT), _number(NUMBER)

    def check(value: object) -> dict[str, int]:
        if type(value) is not dict:
            raise WrongValueError("not a map")
        if not low <= len(value) <= high:
            raise WrongValueError(f"must have between {low} and {high} entries")
        return {key(name): count(number) for name, number in value.items()}

    return check
