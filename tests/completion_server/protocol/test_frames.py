"""Frames are cut exactly, whatever the pieces in which the bytes arrive."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.errors import ProtocolError
from completion_server.protocol import (
    MAX_AFTER,
    MAX_BEFORE,
    MAX_SNIPPET,
    MAX_SNIPPETS,
    Cancel,
    Complete,
    Context,
    Snippet,
)
from completion_server.protocol.bounds import MAX_PATH, MAX_SNIPPET_PATH, TEXT
from completion_server.protocol.codec import encode
from completion_server.protocol.frames import MAX_FRAME, frame, read_frame


def stream(*pieces: bytes, end: bool = True) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    for piece in pieces:
        reader.feed_data(piece)
    if end:
        reader.feed_eof()
    return reader


async def test_frame_is_a_length_and_a_payload() -> None:
    data = frame(Cancel(1))
    assert data == b"\x00\x00\x00\x11" + encode(Cancel(1))
    assert await read_frame(stream(data)) == encode(Cancel(1))


@given(st.lists(st.binary(max_size=50), max_size=5), st.integers(1, 7))
def test_frames_come_out_as_they_went_in(payloads: list[bytes], piece: int) -> None:
    async def read_all() -> list[bytes]:
        data = b"".join(len(payload).to_bytes(4, "big") + payload for payload in payloads)
        reader = stream(*(data[start : start + piece] for start in range(0, len(data), piece)))
        return [payload async for payload in frames_of(reader)]

    assert asyncio.run(read_all()) == payloads


async def frames_of(reader: asyncio.StreamReader):  # type: ignore[no-untyped-def]
    while (payload := await read_frame(reader)) is not None:
        yield payload


async def test_end_of_the_stream_between_frames_is_no_error() -> None:
    assert await read_frame(stream()) is None


@pytest.mark.parametrize("kept", [1, 3, 4, 5, 20])
async def test_frame_that_is_cut_off_is_an_error(kept: int) -> None:
    with pytest.raises(ProtocolError, match="cut off"):
        await read_frame(stream(frame(Cancel(1))[:kept]))


async def test_length_over_the_limit_is_refused_before_the_body_comes() -> None:
    with pytest.raises(ProtocolError, match="announces 1048577 bytes"):
        await read_frame(stream((MAX_FRAME + 1).to_bytes(4, "big"), end=False))


async def test_frame_of_exactly_the_limit_is_read() -> None:
    assert await read_frame(stream(b"\x00\x00\x00\x03abc"), limit=3) == b"abc"


@pytest.mark.parametrize("sent", [b"\x00", b"\x00\x00\x00\x05ab"])
async def test_frame_that_stalls_is_given_up(sent: bytes) -> None:
    with pytest.raises(ProtocolError, match="not complete"):
        await read_frame(stream(sent, end=False), frame_timeout=0.01)


async def test_pause_between_frames_may_be_long() -> None:
    reader = stream(end=False)
    reading = asyncio.create_task(read_frame(reader, frame_timeout=0.0))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not reading.done()
    reader.feed_eof()
    assert await reading is None


def test_largest_request_within_the_bounds_fits_into_a_frame() -> None:
    wide = "\N{GRINNING FACE}"  # four bytes in UTF-8
    context = Context(
        document=wide * MAX_PATH,
        version=2**53 - 1,
        before=wide * MAX_BEFORE,
        after=wide * MAX_AFTER,
        language=wide * int(TEXT.high),
        path=wide * MAX_PATH,
        snippets=(Snippet(wide * MAX_SNIPPET_PATH, wide * MAX_SNIPPET),) * MAX_SNIPPETS,
    )
    assert MAX_FRAME * 0.98 < len(frame(Complete(2**53 - 1, context))) <= MAX_FRAME
