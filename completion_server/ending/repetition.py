"""Sees that a text has begun to repeat itself, as small models do. Pure; knows nothing of languages."""

import re

_SUFFIX = 8  # characters by which the previous copy is found
_COPIES = 3
_LEAST = 24  # characters that all copies make up together: `0, 0, 0` is no loop
_LONGEST = 160  # characters of a phrase: two or three lines
_SIGNS = 8  # copies of a phrase without letters and digits: `], [], [], [` is none yet
_RULER = 72  # characters of a line of dashes or the like that stay where it goes on for ever
_LONG_RULER = 120
_NUMBER = re.compile(r"\d+")
_STUTTER = re.compile(r"(_[A-Za-z0-9]+)\1(?![A-Za-z0-9])")
_LONG_PHRASE = 30  # characters of two lines or more that say enough: a second copy is a loop


def loop_end(text: str) -> int | None:
    """Where the first copy of a phrase ends that `text` ends with three copies of, or two of some lines; else None.

    Meant to be asked behind every character: one whose last characters stand nearer before by chance is missed there
    and seen a few characters later. The end is never within a word. Rulers are no loops as long as they
    fit a line, blank lines never.
    """
    end = len(text)
    found = text.rfind(text[-_SUFFIX:], 0, end - 1)
    period = end - _SUFFIX - found
    if end <= _SUFFIX or found < 0 or period > _LONGEST:
        return None
    phrase = text[end - period :]
    least, copies = _LEAST, _COPIES
    if not any(map(str.isalnum, phrase)):
        least, copies = (_LONG_RULER, 1) if period <= 2 else (_LEAST, _SIGNS)
    elif period >= _LONG_PHRASE and phrase.count("\n") > 1:
        copies = 2
    begin = end - max(copies, -(-least // period)) * period
    if begin < 0 or not phrase.strip() or text[begin : end - period] != text[begin + period :]:
        return None
    while begin > 0 and text[begin - 1] == text[begin - 1 + period]:
        begin -= 1
    return begin + _RULER if least == _LONG_RULER else _word_end(text, begin + period)


def _word_end(text: str, position: int) -> int:
    while text[position - 1].isalnum() and text[position : position + 1].isalnum():
        position += 1
    return position


def same_but_for_numbers(line: str, other: str) -> bool:
    """Whether two lines that are not equal become so without their digits: `x1 = a[1]` and `x2 = a[2]`."""
    return line != other and _NUMBER.sub("0", line) == _NUMBER.sub("0", other)


def stutter(line: str) -> str:
    """The part of a name in `line` that says the same twice, "" if there is none: `_at_at` of `look_at_at`."""
    found = _STUTTER.search(line)
    return found.group() if found else ""
