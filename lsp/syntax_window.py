"""The text around a cursor that is worth parsing: whole while it is near, headers alone while it is far.

What a block stands in decides how it is parsed, but not what else stands there. So the lines near the cursor are kept
as they are, and farther up those that are indented less than all between them and the cursor. Pure.
"""

_ABOVE = 8_000  # code points that are kept whole in front of the cursor
_BELOW = 3_000  # and behind it
_REACH = 24_000  # how far up headers are looked for
_HEADERS = 12
_LINE = 2_000  # a longer line is a minified file, and not parsed beyond that
_CLOSERS = (")", "]", "}", ">", "end")


def window(before: str, after: str) -> tuple[str, str]:
    """The ends of `before` and `after` to parse. What is cut away begins or ends at a line end, where one is near."""
    return _above(before), _below(after)


def _above(before: str) -> str:
    if len(before) <= _ABOVE:
        return before
    near = before[-_ABOVE:]
    start = near.find("\n") + 1
    if not start or len(near) - near.rfind("\n") > _LINE:
        return near[-_LINE:]
    lines = near[start:].split("\n")
    tops = [number for number, line in enumerate(lines[: len(lines) // 2]) if _begins(line)]
    if tops:
        return "\n".join(lines[tops[0] :])
    return "\n".join(_headers(before[-_REACH : -_ABOVE + start], lines) + lines)


def _headers(far: str, lines: list[str]) -> list[str]:
    """Lines of `far` that open the blocks in which `lines` stand, the outermost first."""
    headers: list[str] = []
    least = min((_indent(line) for line in lines if line.strip()), default=0)
    for line in reversed(far.split("\n")[1:]):
        if not least or len(headers) == _HEADERS:
            break
        if line.strip() and _indent(line) < least and not line.lstrip().startswith(_CLOSERS):
            headers.append(line)
            least = _indent(line)
    return headers[::-1]


def _below(after: str) -> str:
    if len(after) <= _BELOW:
        return after
    lines = after[:_BELOW].split("\n")
    if len(lines) == 1:
        return after[:_LINE]
    del lines[-1]
    tops = [number for number, line in enumerate(lines) if number and _begins(line)]
    return "\n".join(lines[: tops[-1]] if tops else lines) + "\n"


def _begins(line: str) -> bool:
    """Whether a line can be where a block of the outermost level begins."""
    return bool(line) and not line[0].isspace() and not line.startswith(_CLOSERS)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
