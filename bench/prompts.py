"""Texts to decode from: heads of real files, the same cut inside a line, and tables that nobody can predict. Pure."""

import random
import string

CHARACTERS = 3_000  # of a file
_ROWS = 12
_LEAST = 8  # characters of a line that is cut


def head(text: str) -> str:
    """Whole lines of `text`, about `CHARACTERS` long."""
    return text[: text.rfind("\n", 0, CHARACTERS) + 1]


def inside_a_line(text: str) -> str:
    """`text` up to the middle of its last line that is long enough, where somebody is typing."""
    lines = text.splitlines(keepends=True)
    while lines and len(lines[-1].strip()) < _LEAST:
        lines.pop()
    if not lines:
        return text
    last = lines.pop().rstrip()
    indent = len(last) - len(last.lstrip())
    return "".join(lines) + last[: indent + (len(last) - indent) // 2]


def unpredictable(count: int, seed: int) -> list[str]:
    """`count` prompts that end inside a table of random numbers or names: no n-gram says what comes next."""
    dice = random.Random(seed)
    makers = (_numbers, _names)
    return [makers[number % len(makers)](dice) for number in range(count)]


def _numbers(dice: random.Random) -> str:
    rows = (", ".join(f"0x{dice.getrandbits(32):08x}" for _ in range(4)) for _ in range(_ROWS))
    return "TABLE = [\n" + "".join(f"    {row},\n" for row in rows)


def _names(dice: random.Random) -> str:
    rows = (" = ".join(_name(dice) for _ in range(2)) for _ in range(_ROWS))
    return "".join(f"{row}\n" for row in rows)


def _name(dice: random.Random) -> str:
    return "".join(dice.choices(string.ascii_lowercase, k=dice.randint(5, 12)))
