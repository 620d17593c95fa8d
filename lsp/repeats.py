"""Lines of a suggestion that stand below the cursor already. Pure; line ends are `\\n`."""

from collections.abc import Sequence

from lsp.brackets import CLOSERS, only_closers, unmatched_closers

_BLOCK = 3  # equal lines in a row that make a repeated block
_TELLING = 4  # code points of an unfinished line that are no chance


def without_lines_below(text: str, before: str, rest: str, below: Sequence[str]) -> str:
    """`text` up to the line with which it begins to say what is in `below`.

    `before` and `rest` are the cursor's line around the cursor.
    """
    stand = [line.rstrip() for line in below if line.strip()]
    lines = text.split("\n")
    first = 1 if rest.strip() else 0
    for number in range(first, len(lines) if stand else 0):
        if lines[number].strip() and _repeats(lines, number, before, stand):
            return "\n".join(lines[:number])
    return text


def _repeats(lines: list[str], number: int, before: str, below: list[str]) -> bool:
    """Whether line `number` of the suggestion begins to say what stands below the cursor."""
    line = (lines[number] if number else before + lines[number]).rstrip()
    if only_closers(line):
        same = line == below[0] or (number == 0 and line.strip() == below[0].strip())
        return same and not _closes_own(lines, number)
    if line == below[0]:
        return True
    if number and number == len(lines) - 1 and len(line.strip()) >= _TELLING and below[0].startswith(line):
        return True  # the limit cut the copy off
    tail = [item.strip() for item in lines[number:] if item.strip()][:_BLOCK]
    tail[0] = line.strip()
    bare = [item.strip() for item in below]
    return len(tail) == _BLOCK and any(
        bare[at : at + _BLOCK] == tail for at, item in enumerate(bare) if item == tail[0]
    )


def _closes_own(lines: list[str], number: int) -> bool:
    """Whether all brackets that line `number` closes were opened in the suggestion itself."""
    if CLOSERS.isdisjoint(lines[number]):
        return False
    start = sum(len(line) + 1 for line in lines[:number])
    return all(at < start for at in unmatched_closers("\n".join(lines[: number + 1])))
