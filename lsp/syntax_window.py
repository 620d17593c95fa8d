"""The text around a cursor that is worth parsing: whole while it is near, headers alone while it is far.

What a block stands in decides how it is parsed, but not what else stands there. So the lines near the cursor are kept
as they are, and farther up those that are indented less than all between them and the cursor. Pure.
"""

import re

from lsp.brackets import open_brackets, unmatched_closers

_ABOVE = 5_000  # code points that are kept whole in front of the cursor
_BELOW = 2_000  # and behind it
_LINE = 2_000  # a longer line is a minified file, and not parsed beyond that
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = (")", "]", "}", ">", "end")


def window(before: str, after: str) -> tuple[str, str]:
    """The ends of `before` and `after` to parse. Blocks that are open where the lower one is cut off get closers."""
    above, below = _above(before), _below(after)
    if len(below) == len(after) or "\n" not in below:
        return above, below
    *lines, last = (above + below.rstrip("\n")).split("\n")
    open_blocks = [line for line in reversed(_headers("\n".join(lines), [last])) if line.rstrip()[-1] in _PAIRS]
    return above, below + "".join(f"{line[: _indent(line)]}{_PAIRS[line.rstrip()[-1]]}\n" for line in open_blocks)


def closers_left_out(before: str, after: str) -> str:
    """Closers of the blocks in braces that are open above the cursor's line and that `after` does not close.

    Who types at the end of a file has not closed them yet, and a line in them is none the worse for it. A bracket of
    another kind that is open there is more likely a mistake.
    """
    above = open_brackets(before.rpartition("\n")[0])
    if above[-1:] != ["{"]:
        return ""
    missing = above[: max(0, len(above) - len(unmatched_closers(after)))]
    return "".join(f"\n{_PAIRS[bracket]}" for bracket in reversed(missing))


def _above(before: str) -> str:
    if len(before) <= _ABOVE:
        return before
    near = before[-_ABOVE:]
    start = near.find("\n") + 1
    if not start or len(near) - near.rfind("\n") > _LINE:
        return near[-_LINE:]
    lines = near[start:].split("\n")
    starts = _starts(lines[: len(lines) // 2])
    lines = lines[starts[0] if starts else 0 :]
    return "\n".join(_headers(before[: -_ABOVE + start], lines) + lines)


def _headers(far: str, lines: list[str]) -> list[str]:
    """Lines of `far` that open the blocks in which `lines` stand, the outermost first."""
    least = min((_indent(line) for line in lines if line.strip()), default=0)
    outer = re.findall(rf"^[ \t]{{0,{least - 1}}}[^ \t\n].*", far, re.MULTILINE) if least else []
    headers: list[str] = []
    for line in reversed(outer):
        if _indent(line) < least and _is_start(line):
            headers.append(line)
            least = _indent(line)
    return headers[::-1]


def _below(after: str) -> str:
    if len(after) <= _BELOW:
        return after
    lines = after[:_BELOW].split("\n")
    if len(lines) == 1:
        return after[:_LINE]
    starts = _starts(lines[1:-1])
    return "\n".join(lines[: starts[-1] + 1 if starts else -1]) + "\n"


def _starts(lines: list[str]) -> list[int]:
    """Which of `lines` begin something and are indented least."""
    least = min((_indent(line) for line in lines if line.strip()), default=0)
    return [n for n, line in enumerate(lines) if line.strip() and _indent(line) == least and _is_start(line)]


def _is_start(line: str) -> bool:
    """Whether a line can be where a block of its level begins."""
    return not line.lstrip().startswith(_CLOSERS)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
