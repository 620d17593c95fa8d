"""The codec takes every message there and back, and nothing else in."""

import contextlib
import dataclasses
import math
from typing import Any, get_args, get_origin

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.errors import ProtocolError
from completion_server.protocol import (
    MAX_BEFORE,
    MAX_NEW_TOKENS,
    Cancel,
    CloseDocument,
    Complete,
    Context,
    Decoding,
    Delta,
    Error,
    Hello,
    Limits,
    Message,
    Result,
    Snippet,
    State,
    Usage,
)
from completion_server.protocol.bounds import AMOUNT, ENTRIES, NUMBER, TEXT, bound_of
from completion_server.protocol.codec import claimed_protocol, claimed_request, decode, encode

CONTEXT = Context("d", 3, "def f(", ")", "python", "a.py", (Snippet("b.py", "x = 1"),))
COMPLETE = Complete(7, CONTEXT, Limits(max_tokens=5), Decoding(temperature=0.5))


def plain(message: Message) -> Any:
    return msgpack.unpackb(encode(message))


def decoded(value: Any) -> Message:
    return decode(msgpack.packb(value))


def changed(path: str, value: Any) -> bytes:
    """COMPLETE with the field at the dotted path replaced."""
    whole = node = plain(COMPLETE)
    *parents, last = path.split(".")
    for name in parents:
        node = node[int(name) if name.isdigit() else name]
    node[last] = value
    return bytes(msgpack.packb(whole))


# -- every message, there and back ---------------------------------------------------------------------------------


def values(record: type[Any]) -> st.SearchStrategy[Any]:
    """Messages within the bounds; texts are kept short."""
    hints = {field.name: field.type for field in dataclasses.fields(record)}
    return st.builds(record, **{name: value_of(record, name, hint) for name, hint in hints.items()})


def value_of(record: type[Any], name: str, hint: Any) -> st.SearchStrategy[Any]:
    bound = bound_of(record, name)
    if hint is bool:
        return st.booleans()
    if hint is int:
        numbers = bound or NUMBER
        return st.integers(int(numbers.low), int(numbers.high))
    if hint is float or hint == float | None:
        amounts = bound or AMOUNT
        low, high = (None if math.isinf(end) else end for end in (amounts.low, amounts.high))
        floats = st.floats(low, high, allow_nan=False, allow_infinity=False)
        return floats if hint is float else st.none() | floats
    if hint is str or hint == str | None:
        lengths = bound or TEXT
        texts = st.text(min_size=int(lengths.low), max_size=min(int(lengths.high), 20))
        return texts if hint is str else st.none() | texts
    if hint == tuple[str, ...]:
        return st.lists(st.text(max_size=5), max_size=3).map(tuple)
    if get_origin(hint) is tuple:
        return st.lists(values(get_args(hint)[0]), max_size=2).map(tuple)
    if hint == dict[str, int]:
        return st.dictionaries(st.text(max_size=5), st.integers(0, int(NUMBER.high)), max_size=int(ENTRIES.high))
    if dataclasses.is_dataclass(hint):
        assert isinstance(hint, type)
        return values(hint)
    return st.sampled_from(get_args(hint))


@pytest.mark.parametrize("record", get_args(Message), ids=lambda record: record.__name__)
@given(data=st.data())
def test_every_message_survives_the_round_trip(record: type[Any], data: st.DataObject) -> None:
    message = data.draw(values(record))
    assert decode(encode(message)) == message


def test_wire_form_is_one_map_with_a_type() -> None:
    assert plain(Cancel(4)) == {"type": "cancel", "id": 4}
    assert plain(CloseDocument("a")) == {"type": "close-document", "document": "a"}
    assert plain(COMPLETE)["context"]["snippets"] == [{"path": "b.py", "text": "x = 1"}]


def test_whole_number_stands_for_a_float() -> None:
    message = decode(changed("decoding.temperature", 1))
    assert isinstance(message, Complete)
    assert message.decoding.temperature == 1.0
    assert type(message.decoding.temperature) is float


# -- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("id", 0, "Complete.id"),
        ("id", -1, "Complete.id"),
        ("id", True, "Complete.id"),
        ("id", 1.0, "Complete.id"),
        ("id", 2**53, "Complete.id"),
        ("id", "1", "Complete.id"),
        ("id", None, "Complete.id"),
        ("stream", 1, "Complete.stream"),
        ("context", [], "Complete.context"),
        ("context", None, "Complete.context"),
        ("context.before", 5, "Complete.context.before"),
        ("context.before", b"bytes", "Complete.context.before"),
        ("context.before", "x" * (MAX_BEFORE + 1), "Complete.context.before"),
        ("context.snippets", {}, "Complete.context.snippets"),
        ("context.snippets", [{"path": "", "text": ""}] * 17, "Complete.context.snippets"),
        ("context.snippets.0.text", [], "Complete.context.snippets[0].text"),
        ("context.snippets.0.more", 1, "Complete.context.snippets[0]"),
        ("limits.max_tokens", 0, "Complete.limits.max_tokens"),
        ("limits.max_tokens", MAX_NEW_TOKENS + 1, "Complete.limits.max_tokens"),
        ("decoding.temperature", math.nan, "Complete.decoding.temperature"),
        ("decoding.temperature", math.inf, "Complete.decoding.temperature"),
        ("decoding.temperature", -0.1, "Complete.decoding.temperature"),
        ("decoding.temperature", True, "Complete.decoding.temperature"),
        ("decoding.top_p", 1.5, "Complete.decoding.top_p"),
        ("unheard_of", 1, "Complete: unknown field"),
        ("context.before", msgpack.ExtType(5, b"x"), "Complete.context.before"),
        ("context.before", msgpack.Timestamp(0), "Complete.context.before"),
        ("id", msgpack.Timestamp(0), "Complete.id"),
        ("type", "unheard-of", "message: unknown or missing type"),
        ("type", 5, "message: unknown or missing type"),
        ("type", ["complete"], "message: unknown or missing type"),
    ],
)
def test_wrong_value_is_refused_and_its_field_named(path: str, value: Any, named: str) -> None:
    with pytest.raises(ProtocolError) as refusal:
        decode(changed(path, value))
    assert str(refusal.value).startswith(named)


@pytest.mark.parametrize("missing", ["type", "id", "context", "limits", "stream"])
def test_missing_field_is_refused(missing: str) -> None:
    whole = plain(COMPLETE)
    del whole[missing]
    with pytest.raises(ProtocolError, match=f"{missing}"):
        decoded(whole)


def test_missing_field_cannot_be_made_up_for_by_an_unknown_one() -> None:
    with pytest.raises(ProtocolError, match=r"Cancel\.id: missing"):
        decoded({"type": "cancel", "ID": 1})


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x80",  # {}
        b"\x90",  # []
        b"\xc0",  # None
        b"\xc1",  # never used by msgpack
        b"\x81",  # a map that is cut off
        b"\xdf\xff\xff\xff\xff",  # a map that announces 2**32 - 1 entries
        b"\x91" * 100_000 + b"\x90",  # nested 100,000 deep
        b"\x81\x01\x01",  # {1: 1}
        b"\x82\xa2id\x01\xc4\x04type\x01",  # a key of bytes
        b"\x83\xa4type\xa6cancel\xa2id\x01\xa2id\x02",  # the same key twice
        b"\x82\xa4type\xa6cancel\xa2id\x01\x00",  # a byte behind the map
        b"\x82\xa4type\xa6cancel\xa2id\xc7\x05\xff\x00\x00\x00\x00\x00",  # a timestamp of five bytes
    ],
)
def test_broken_payload_is_refused(payload: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(payload)


@pytest.mark.parametrize("text", [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"ok\xe2\x82"])
def test_text_that_is_not_utf8_is_refused_by_name(text: bytes) -> None:
    raw = b"\x82\xa4type\xaeclose-document\xa8document" + bytes([0xA0 + len(text)]) + text
    with pytest.raises(ProtocolError, match=r"CloseDocument\.document: not valid UTF-8"):
        decode(raw)


@given(st.binary(max_size=300))
def test_random_bytes_raise_nothing_but_protocol_errors(payload: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        decode(payload)
    assert claimed_request(payload) >= 0
    claimed_protocol(payload)


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(st.sampled_from([*plain(COMPLETE), *(f"context.{name}" for name in plain(COMPLETE)["context"])]), json_like)
def test_any_value_in_any_field_is_taken_or_refused(path: str, value: Any) -> None:
    try:
        message = decode(changed(path, value))
    except ProtocolError:
        return
    assert decode(encode(message)) == message


@given(st.integers(0, 400), st.integers(0, 255))
def test_flipped_byte_is_taken_or_refused(position: int, byte: int) -> None:
    payload = bytearray(encode(COMPLETE))
    payload[position % len(payload)] = byte
    with contextlib.suppress(ProtocolError):
        decode(bytes(payload))


# -- what is never said or sent ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value"),
    [("context.before", "SECRET" * 20_000), ("id", "SECRET"), ("SECRET", 1), ("type", "SECRET"), ("limits", "SECRET")],
)
def test_refusal_does_not_quote_the_payload(path: str, value: Any) -> None:
    with pytest.raises(ProtocolError) as refusal:
        decode(changed(path, value))
    assert "SECRET" not in str(refusal.value)


def test_refusal_of_a_broken_payload_keeps_no_link_to_the_payload() -> None:
    with pytest.raises(ProtocolError) as refusal:
        decode(b"\xc4\x06SECRET\x00")
    assert refusal.value.__suppress_context__
    assert "SECRET" not in str(refusal.value)


@pytest.mark.parametrize(
    "message",
    [
        Complete(0, CONTEXT),
        Complete(1, dataclasses.replace(CONTEXT, before="x" * (MAX_BEFORE + 1))),
        CloseDocument("\ud800"),
        State("ready", "p", fraction=math.nan),
        Delta(1, 5),  # type: ignore[arg-type]
        Result(1, "x", "end", Usage()),  # type: ignore[arg-type]
        Hello(1, "", "1"),
    ],
)
def test_sender_refuses_what_the_receiver_would_refuse(message: Message) -> None:
    with pytest.raises(ProtocolError):
        encode(message)


# -- reading as much as there is of a refused payload --------------------------------------------------------------


def test_a_record_of_another_class_is_not_sent() -> None:
    with pytest.raises(ProtocolError, match=r"Complete\.limits: not a map"):
        encode(dataclasses.replace(COMPLETE, limits=COMPLETE.decoding))  # type: ignore[arg-type]


def test_claimed_request_is_the_id_of_a_request_only() -> None:
    assert claimed_request(changed("limits", None)) == 7
    assert claimed_request(changed("id", "seven")) == 0
    assert claimed_request(changed("id", -7)) == 0
    assert claimed_request(encode(Cancel(7))) == 0
    assert claimed_request(encode(Error(7, "request", ""))) == 0
    assert claimed_request(b"\xc1") == 0


def test_claimed_protocol_is_read_from_a_hello_with_unknown_fields() -> None:
    hello = {"type": "hello", "protocol": 99, "colour": "blue"}
    assert claimed_protocol(msgpack.packb(hello)) == 99
    assert claimed_protocol(msgpack.packb({**hello, "type": "cancel"})) is None
    assert claimed_protocol(msgpack.packb({**hello, "protocol": True})) is None
