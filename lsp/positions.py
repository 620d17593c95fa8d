"""Columns: between the code units of a client's position encoding and Python's code points.

Works on one line without its line end. Knows nothing of documents.
"""

from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def column_of(line: str, units: int, encoding: Encoding) -> int:
    """Code points in front of the position `units` code units into `line`.

    A position behind the line is its end, a negative one its start, and one inside a character is in front of that
    character.
    """
    if units <= 0:
        return 0
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    if encoding == "utf-16":
        return _column_utf16(line, units)
    return _column_utf8(line, units)


def units_of(line: str, column: int, encoding: Encoding) -> int:
    """Code units that the first `column` code points of `line` take."""
    head = line[:column]
    if encoding == "utf-32" or head.isascii():
        return len(head)
    if encoding == "utf-16":
        return len(head.encode("utf-16-le", "surrogatepass")) // 2
    return len(head.encode("utf-8", "surrogatepass"))


def _column_utf16(line: str, units: int) -> int:
    data = line.encode("utf-16-le", "surrogatepass")
    cut = min(2 * units, len(data))
    if 0 < cut < len(data) and _is_low(data, cut) and _is_high(data, cut - 2):
        cut -= 2
    return len(data[:cut].decode("utf-16-le", "surrogatepass"))


def _column_utf8(line: str, units: int) -> int:
    data = line.encode("utf-8", "surrogatepass")
    cut = min(units, len(data))
    while cut < len(data) and data[cut] & 0xC0 == 0x80:  # a continuation byte: inside a character
        cut -= 1
    return len(data[:cut].decode("utf-8", "surrogatepass"))


def _is_high(data: bytes, at: int) -> bool:
    return 0xD8 <= data[at + 1] <= 0xDB


def _is_low(data: bytes, at: int) -> bool:
    return 0xDC <= data[at + 1] <= 0xDF
