"""Messages to msgpack and back, strictly.

One message is one map: `{"type": "complete", "id": 1, "context": {...}, ...}`. What a field may hold is read from the
dataclass's type hints, once per class, and from the table in `bounds`. Everything else is a `ProtocolError`: an
unknown type or field, a missing one, a wrong type (a bool is no number), a number or a length out of bounds, NaN and
infinity, an extension type, a key that is not text or comes twice, text that is not UTF-8, bytes after the map.
The error names the field (`Complete.context.before`) and never its value.

Knows nothing of sockets and frame headers; see `frames`.
"""

import math
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgpack  # type: ignore[import-untyped]

from completion_server.errors import ProtocolError
from completion_server.protocol.bounds import AMOUNT, ENTRIES, NUMBER, TEXT, Bound, bound_of
from completion_server.protocol.messages import Complete, Message, Shutdown, Status, Warm

_Reader = Callable[[object, str], Any]
"""Takes a value as msgpack gives it and the path of its field; returns the typed value or raises `ProtocolError`."""

_Record = TypeVar("_Record")


def encode(message: Message) -> bytes:
    """The payload of one frame. Raises `ProtocolError` for what the other side's `decode` would refuse."""
    plain = _plain(message)
    _read_record(type(message), plain, type(message).__name__)
    payload: bytes = msgpack.packb({"type": _type_name(type(message)), **plain})
    return payload


def decode(payload: bytes) -> Message:
    """The message in one payload. Raises `ProtocolError`, and nothing else, whatever the bytes are."""
    plain = _unpack(payload)
    name = plain.pop("type", None)
    record = _records().get(name) if isinstance(name, str) else None
    if record is None:
        raise ProtocolError("message: unknown or missing type")
    message: Message = _read_record(record, plain, record.__name__)
    return message


def claimed_request(payload: bytes) -> int:
    """The id of the request that a payload refused by `decode` seems to be, so that it can be answered; 0 if none."""
    plain = _peek(payload)
    request_types = {_type_name(record) for record in (Complete, Warm, Status, Shutdown)}
    if plain.get("type") not in request_types:
        return 0
    try:
        return int(_number(plain.get("id"), "id", NUMBER))
    except ProtocolError:
        return 0


def claimed_protocol(payload: bytes) -> int | None:
    """The protocol version in a `Hello` or `Welcome` that may be of another version, with fields unknown here."""
    plain = _peek(payload)
    version = plain.get("protocol")
    return version if type(version) is int and plain.get("type") in ("hello", "welcome") else None


# -- bytes ↔ plain values ------------------------------------------------------------------------------------------


def _unpack(payload: bytes) -> dict[str, Any]:
    try:
        # Bytes that are not UTF-8 become lone surrogates, so that the check of the text can name its field.
        plain = msgpack.unpackb(
            payload, strict_map_key=True, unicode_errors="surrogateescape", object_pairs_hook=_without_repeats
        )
    except ProtocolError:
        raise
    # What msgpack raises is its own affair, and some of it quotes the payload.
    except Exception as error:
        raise ProtocolError(f"message: not one msgpack object ({type(error).__name__})") from None
    if type(plain) is not dict:
        raise ProtocolError("message: not a map")
    return plain


def _peek(payload: bytes) -> dict[str, Any]:
    try:
        return _unpack(payload)
    except ProtocolError:
        return {}


def _without_repeats(pairs: list[tuple[object, object]]) -> dict[object, object]:
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise ProtocolError("message: a map has the same key twice")
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


# -- plain values → dataclasses ------------------------------------------------------------------------------------


def _read_record(record: type[_Record], value: object, path: str) -> _Record:
    if type(value) is not dict:
        raise ProtocolError(f"{path}: not a map")
    readers = _readers(record)  # type: ignore[arg-type]  # mypy takes the class of a slotted dataclass for unhashable
    if missing := readers.keys() - value.keys():
        raise ProtocolError(f"{path}.{min(missing)}: missing")
    if len(value) > len(readers):
        raise ProtocolError(f"{path}: unknown field")  # without its name, which is the sender's text
    return record(**{name: read(value[name], f"{path}.{name}") for name, read in readers.items()})


@cache
def _records() -> dict[str, type[Any]]:
    return {_type_name(record): record for record in get_args(Message)}


def _type_name(record: type[Any]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", record.__name__).lower()


@cache
def _readers(record: type[Any]) -> dict[str, _Reader]:
    hints = get_type_hints(record)
    return {field.name: _reader(hints[field.name], bound_of(record, field.name)) for field in fields(record)}


def _reader(hint: Any, bound: Bound | None) -> _Reader:
    """Raises TypeError for a hint that no message uses yet: add it here together with a test."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return lambda value, path: _read_record(hint, value, path)
    if hint is bool:
        return _boolean
    if hint is int:
        return lambda value, path: _number(value, path, bound or NUMBER)
    if hint is float:
        return lambda value, path: _amount(value, path, bound or AMOUNT)
    if hint is str:
        return lambda value, path: _text(value, path, bound or TEXT)
    if origin is Literal:
        return lambda value, path: _choice(value, path, arguments)
    if origin in (Union, UnionType) and len(arguments) == 2 and arguments[1] is NoneType:
        read = _reader(arguments[0], bound)
        return lambda value, path: None if value is None else read(value, path)
    if origin is tuple and arguments[1:] == (...,):
        read = _reader(arguments[0], None)
        return lambda value, path: _sequence(value, path, read, bound or ENTRIES)
    if hint == dict[str, int]:
        return lambda value, path: _counters(value, path, bound or ENTRIES)
    raise TypeError(f"no reader for the type hint {hint}")


def _boolean(value: object, path: str) -> bool:
    if type(value) is not bool:
        raise ProtocolError(f"{path}: not a bool")
    return value


def _number(value: object, path: str, bound: Bound) -> int:
    if type(value) is not int:
        raise ProtocolError(f"{path}: not an int")
    if not bound.low <= value <= bound.high:
        raise ProtocolError(f"{path}: must be between {bound.low} and {bound.high}")
    return value


def _amount(value: object, path: str, bound: Bound) -> float:
    if type(value) is int:
        # Many languages write 1.0 as 1.
        value = float(_number(value, path, NUMBER))
    if type(value) is not float or not math.isfinite(value):
        raise ProtocolError(f"{path}: not a finite number")
    if not bound.low <= value <= bound.high:
        raise ProtocolError(f"{path}: must be between {bound.low} and {bound.high}")
    return value


def _text(value: object, path: str, bound: Bound) -> str:
    if not isinstance(value, str):
        raise ProtocolError(f"{path}: not text")
    if not bound.low <= len(value) <= bound.high:
        raise ProtocolError(f"{path}: must have between {bound.low} and {bound.high} characters")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:  # it quotes the text
            raise ProtocolError(f"{path}: not valid UTF-8") from None
    return value


def _choice(value: object, path: str, choices: tuple[object, ...]) -> object:
    if not isinstance(value, str) or value not in choices:
        raise ProtocolError(f"{path}: must be one of {', '.join(map(str, choices))}")
    return value


def _sequence(value: object, path: str, read: _Reader, bound: Bound) -> tuple[Any, ...]:
    if type(value) is not list:
        raise ProtocolError(f"{path}: not a list")
    if not bound.low <= len(value) <= bound.high:
        raise ProtocolError(f"{path}: must have between {bound.low} and {bound.high} entries")
    return tuple(read(item, f"{path}[{index}]") for index, item in enumerate(value))


def _counters(value: object, path: str, bound: Bound) -> dict[str, int]:
    if type(value) is not dict:
        raise ProtocolError(f"{path}: not a map")
    if not bound.low <= len(value) <= bound.high:
        raise ProtocolError(f"{path}: must have between {bound.low} and {bound.high} entries")
    return {_text(key, path, TEXT): _number(count, path, NUMBER) for key, count in value.items()}
