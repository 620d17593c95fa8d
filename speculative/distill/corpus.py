"""Source files for distillation: which are taken, which are held out, and windows of tokens cut from them."""

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from itertools import zip_longest
from pathlib import Path

import torch
from torch import Tensor

from speculative.distill.licence import Licences, is_permissive

Encode = Callable[[str], Sequence[int]]

HELD_OUT = 20  # one file in so many, by a hash of its text: the same on every machine, and no copy of it is trained on
LONGEST = 60_000  # characters of a file that are looked at
PER_FILE = 3  # windows: many files tell more than much of one


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was taken."""

    path: Path
    text: str
    licence: str
    held_out: bool


@dataclass(frozen=True, slots=True)
class Windows:
    """`tokens` `[N, length]` int64, and the files that they were cut from."""

    tokens: Tensor
    sources: tuple[Source, ...]


def read(
    patterns: Sequence[str], exclude: Sequence[str], *, seed: int = 0, any_licence: bool = False
) -> Iterator[Source]:
    """Text files that `patterns` name and `exclude` does not, each text once, in random order, the patterns in turn.

    Without `any_licence` only those under a permissive one.
    """
    shut_out = {Path(name).resolve() for pattern in exclude for name in glob(pattern, recursive=True)}  # noqa: PTH207
    shuffled = random.Random(seed)  # noqa: S311 - no secret
    licences, seen = Licences(), set()
    lists = []
    for pattern in patterns:
        paths = sorted(Path(name).resolve() for name in glob(pattern, recursive=True))  # noqa: PTH207
        shuffled.shuffle(paths)
        lists.append(paths)
    for path in (path for turn in zip_longest(*lists) for path in turn if path is not None):
        if path in shut_out or not path.is_file():
            continue
        licence = licences.of(path)
        if not any_licence and not is_permissive(licence):
            continue
        try:
            text = path.read_text(encoding="utf-8")[:LONGEST]
        except (OSError, UnicodeDecodeError):
            continue
        digest = hashlib.sha256(text.encode()).digest()
        if digest not in seen:
            seen.add(digest)
            yield Source(path, text, licence, int.from_bytes(digest[:4], "big") % HELD_OUT == 0)


def cut(
    sources: Iterator[Source], encode: Encode, length: int, train: int, held_out: int, *, seed: int = 0
) -> tuple[Windows, Windows]:
    """About `train` windows of `length` tokens to learn from, and `held_out` ones of other files to measure with.

    A file gives its beginning and some windows that begin with a line further down, held-out ones the beginning alone.
    """
    places = random.Random(seed)  # noqa: S311 - no secret
    kept: dict[bool, tuple[list[Sequence[int]], list[Source]]] = {False: ([], []), True: ([], [])}
    limits = {False: train, True: held_out}
    for source in sources:
        windows, used = kept[source.held_out]
        if len(windows) >= limits[source.held_out]:
            if all(len(kept[held][0]) >= limits[held] for held in limits):
                break
            continue
        found = _windows(source, encode, length, places)
        if found:
            windows += found
            used.append(source)
    results = []
    for held, (windows, used) in kept.items():
        if not held:
            places.shuffle(windows)
        tokens = torch.tensor(windows[: limits[held]], dtype=torch.int64).view(-1, length)
        results.append(Windows(tokens, tuple(used)))
    return results[0], results[1]


def _windows(source: Source, encode: Encode, length: int, places: random.Random) -> list[Sequence[int]]:
    if source.held_out:
        starts = [0]
    else:
        lines = [i + 1 for i, c in enumerate(source.text[:-1]) if c == "\n" and source.text[i + 1] not in "\n "]
        starts = [0, *places.sample(lines, min(len(lines), PER_FILE - 1))]
    encoded = (encode(source.text[start : start + 8 * length]) for start in starts)
    return [ids[:length] for ids in encoded if len(ids) >= length]
