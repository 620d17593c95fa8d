"""Sees that a text has begun to repeat a phrase, as small models do. Pure; knows nothing of lines or languages."""

_SUFFIX = 8  # characters by which the previous copy is found
_COPIES = 3
_LEAST = 24  # characters that all copies make up together: `0, 0, 0` is no loop
_LONGEST = 160  # characters of a phrase: two or three lines


def loop_end(text: str) -> int | None:
    """Where the first copy of a phrase ends that `text` ends with at least three copies of; None if it does not.

    Meant to be asked behind every character: one whose last characters stand nearer before by chance is missed there
    and seen a few characters later. Phrases without letters and digits do not count (rulers, blank lines).
    """
    end = len(text)
    found = text.rfind(text[-_SUFFIX:], 0, end - 1)
    period = end - _SUFFIX - found
    if end <= _SUFFIX or found < 0 or period > _LONGEST:
        return None
    begin = end - max(_COPIES, -(-_LEAST // period)) * period
    if begin < 0 or text[begin : end - period] != text[begin + period :]:
        return None
    if not any(char.isalnum() for char in text[end - period :]):
        return None
    while begin > 0 and text[begin - 1] == text[begin - 1 + period]:
        begin -= 1
    return begin + period
