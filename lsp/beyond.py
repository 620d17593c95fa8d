"""What a suggestion says behind the closers that stand behind the cursor: `a);` where an editor has put the `)`. Pure.

Such closers came in by themselves when the person opened what they close, so the line is not finished with them. Where
somebody has written more behind them, a semicolon even, it is.
"""

import re

from lsp.brackets import CLOSERS, open_brackets, unmatched_closers

_AUTOMATIC = CLOSERS.union("\"'` \t")
_COMMENT = re.compile(r"#|//|--|/\*|;;")
_END_OF_VALUE = re.compile(r"[,;]")


def beyond(text: str, head: str, rest: str) -> str:
    """How far `text` can take the place of `rest`, the rest of the cursor's line; empty where it says no more than it.

    `head` is the part of `text` that can stand in front of `rest`. What is returned has all of `rest` in it, in order
    and behind `head`, so that editors can show it as text that comes in between and behind.
    """
    closers = rest.strip()
    if not closers or not _AUTOMATIC.issuperset(closers) or not text.startswith(head):
        return ""
    line, newline, below = text[len(head) :].partition("\n")
    line = line.rstrip()
    added = _added(line.lstrip(), closers)
    if not added.strip() or _COMMENT.match(added.lstrip()) or not _is_subsequence(rest.rstrip(), line):
        return ""
    opens = bool(open_brackets(line)) or line.endswith(":")
    if opens and (not below.strip() or open_brackets(line + newline + below)):
        return ""  # a block comes whole or not at all
    return head + line + (newline + below if opens else "")


def _added(line: str, closers: str) -> str:
    """What `line` has beside `closers`; nothing where it does not close what they close, and no more."""
    if closers[0] not in CLOSERS:  # out of a string, of which all but its end is foreseen badly
        added = line.removeprefix(closers)
        if added == line or unmatched_closers(added):
            return ""
        return added if CLOSERS.intersection(closers) or _END_OF_VALUE.fullmatch(added) else ""
    places = unmatched_closers(line)
    if places[:1] != [0] or [line[at] for at in places] != [char for char in closers if char in CLOSERS]:
        return ""
    return "".join(char for at, char in enumerate(line) if at not in places)


def _is_subsequence(part: str, whole: str) -> bool:
    left = iter(whole)
    return all(char in left for char in part)
