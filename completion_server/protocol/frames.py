"""Frames on a byte stream: four bytes of length, big-endian, then that many bytes of payload.

An error here means that the stream cannot be read further; an error in a payload (`codec`) spoils that frame alone.
Knows nothing of what is in a payload.
"""

import asyncio
from typing import Final

from completion_server.errors import ProtocolError
from completion_server.protocol.codec import encode
from completion_server.protocol.messages import Message

MAX_FRAME: Final = 1 << 20
"""Bytes of payload. The largest `Complete` that `bounds` allows, in four-byte characters, is just below."""

FRAME_TIMEOUT: Final = 10.0
"""Seconds from the first byte of a frame to its last: who is slower holds memory for nothing."""

_HEADER: Final = 4


def frame(message: Message) -> bytes:
    """One message as it goes over the wire. Raises `ProtocolError` if it breaks the protocol or is too long."""
    payload = encode(message)
    if len(payload) > MAX_FRAME:
        raise ProtocolError(f"{type(message).__name__}: {len(payload)} bytes, a frame holds {MAX_FRAME}")
    return len(payload).to_bytes(_HEADER, "big") + payload


async def read_frame(
    reader: asyncio.StreamReader, *, limit: int = MAX_FRAME, frame_timeout: float = FRAME_TIMEOUT
) -> bytes | None:
    """The payload of the next frame, None at the end of the stream. Waits as long as it takes for its first byte.

    Raises `ProtocolError` for a frame over `limit` (before any of its body is read), one that is cut off by the end
    of the stream, and one that takes more than `frame_timeout` seconds to arrive.
    """
    first = await reader.read(1)
    if not first:
        return None
    try:
        async with asyncio.timeout(frame_timeout):
            header = first + await reader.readexactly(_HEADER - 1)
            length = int.from_bytes(header, "big")
            if length > limit:
                raise ProtocolError(f"frame: announces {length} bytes, the limit is {limit}")
            return await reader.readexactly(length)
    except TimeoutError:
        raise ProtocolError(f"frame: not complete after {frame_timeout:g} s") from None
    except asyncio.IncompleteReadError:  # it holds the bytes read so far
        raise ProtocolError("frame: cut off by the end of the stream") from None
