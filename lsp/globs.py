"""Globs as in `.gitignore`: which files a person means by `private/`, `src/**/secret/*.py` or `*.{key,pem}`.

A glob may begin in any folder, and what it names stands for all below it. `*`, `?` and `[a-z]` match within one part
of a path, `**` any number of parts, `{a,b}` either one. Letter case does not count. Pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

_LONGEST = 1_000  # code points
_MOST = 200  # globs that one with braces stands for


@dataclass(frozen=True, slots=True)
class Glob:
    """One glob without braces, as the parts of a path."""

    parts: tuple[str, ...]

    def matches(self, path: Sequence[str]) -> bool:
        """Whether the glob names the file at `path`, whose parts are case-folded, or a folder that it is in."""
        return bool(self._ends(path))

    def matches_file(self, path: Sequence[str]) -> bool:
        """Whether the glob names that file itself."""
        return len(path) in self._ends(path)

    def _ends(self, path: Sequence[str]) -> set[int]:
        """How many parts of `path` the glob may have used up."""
        ends = set(range(len(path)))
        for part in self.parts:
            if part == "**":
                ends = set(range(min(ends, default=len(path)), len(path) + 1))
            else:
                ends = {end + 1 for end in ends if end < len(path) and fnmatchcase(path[end], part)}
        return ends


def parse_glob(pattern: str) -> tuple[Glob, ...]:
    """The globs that `pattern` stands for. Raises `ValueError` with a reason if it has no use."""
    if len(pattern) > _LONGEST:
        raise ValueError(f"is longer than {_LONGEST} characters")
    if pattern.startswith("!"):
        raise ValueError("begins with `!`, but a pattern can only exclude")
    globs: list[Glob] = []
    for plain in _without_braces(pattern.replace("\\", "/").casefold()):
        if len(globs) == _MOST:
            raise ValueError(f"stands for more than {_MOST} patterns")
        globs.append(_glob(plain))
    return tuple(globs)


def split_path(path: str) -> list[str]:
    """The case-folded parts of a path with `/` or `\\` between them."""
    return [part for part in path.replace("\\", "/").casefold().split("/") if part]


def _glob(plain: str) -> Glob:
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if not parts:
        raise ValueError("is empty")
    if plain.endswith("/"):
        parts.append("*")  # what is below the folder, not a file of that name
    elif parts[-1] == "**":
        parts[-1] = "*"
    return Glob(tuple(parts))


def _without_braces(pattern: str) -> Iterator[str]:
    """The first innermost pair of braces is replaced by each of its alternatives in turn."""
    close = pattern.find("}")
    start = pattern.rfind("{", 0, max(close, 0))
    if start < 0:
        if "{" in pattern or "}" in pattern:
            raise ValueError("has a brace without a mate")
        yield pattern
        return
    for alternative in pattern[start + 1 : close].split(","):
        yield from _without_braces(pattern[:start] + alternative + pattern[close + 1 :])
