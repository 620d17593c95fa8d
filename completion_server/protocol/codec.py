"""Messages to msgpack and back, strictly.

One message is one map: `{"type": "complete", "id": 1, "context": {...}, ...}`. What a field may hold is in `kinds`.
Everything else is a `ProtocolError`: an unknown type or field, a missing one, a wrong type (a bool is no number), a
number or a length out of bounds, NaN and infinity, an extension type, a key that is not text or comes twice, text that
is not UTF-8, bytes after the map. The error names the field (`Complete.context.before`) and never its value.

Knows nothing of sockets and frame headers; see `frames`.
"""

import re
from functools import cache
from typing import Any, get_args

import msgpack  # type: ignore[import-untyped]

from completion_server.errors import ProtocolError
from completion_server.protocol.bounds import NUMBER
from completion_server.protocol.kinds import WrongValueError, record_kind
from completion_server.protocol.messages import Complete, Message, Shutdown, Status, UsePair, Warm


def encode(message: Message) -> bytes:
    """The payload of one frame. Raises `ProtocolError` for what the other side's `decode` would refuse."""
    record: Any = type(message)  # mypy takes the class of a slotted dataclass for unhashable
    try:
        plain = record_kind(record).write(message)
    except WrongValueError as wrong:
        raise ProtocolError(f"{record.__name__}{wrong.path}: {wrong.why}") from None
    payload: bytes = msgpack.packb({"type": _type_name(record), **plain})
    return payload


def decode(payload: bytes) -> Message:
    """The message in one payload. Raises `ProtocolError`, and nothing else, whatever the bytes are."""
    plain = _unpack(payload)
    name = plain.pop("type", None)
    record: Any = _records().get(name) if isinstance(name, str) else None
    if record is None:
        raise ProtocolError("message: unknown or missing type")
    try:
        message: Message = record_kind(record).read(plain)
    except WrongValueError as wrong:
        raise ProtocolError(f"{record.__name__}{wrong.path}: {wrong.why}") from None
    return message


def claimed_request(payload: bytes) -> int:
    """The id of the request that a payload refused by `decode` seems to be, so that it can be answered; 0 if none."""
    plain = _peek(payload)
    request_types = {_type_name(record) for record in (Complete, Warm, Status, UsePair, Shutdown)}
    if plain.get("type") not in request_types:
        return 0
    request = plain.get("id")
    return request if type(request) is int and NUMBER.low <= request <= NUMBER.high else 0


def claimed_protocol(payload: bytes) -> int | None:
    """The protocol version in a `Hello` or `Welcome` that may be of another version, with fields unknown here."""
    plain = _peek(payload)
    version = plain.get("protocol")
    return version if type(version) is int and plain.get("type") in ("hello", "welcome") else None


@cache
def _records() -> dict[str, type[Any]]:
    return {_type_name(record): record for record in get_args(Message)}


@cache
def _type_name(record: type[Any]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", record.__name__).lower()


# -- bytes → plain values ------------------------------------------------------------------------------------------


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
