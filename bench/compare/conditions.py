"""`--fail-if`: conditions on the figures, for a program that has to decide. Pure.

    condition = [PAIR ":"] NAME OPERATOR NUMBER        operator = ">" | ">=" | "<" | "<="

Without a pair it is about every pair. A figure that could not be measured fails: what nobody looked at is not fine.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from completion_server.errors import SettingsError

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_FORM = re.compile(r"\s*(?:(?P<pair>\S+):)?(?P<name>\w+)\s*(?P<sign>[<>]=?)\s*(?P<number>-?\d+(?:\.\d+)?)\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Condition:
    """`pair` is None where it is about all."""

    name: str
    sign: str
    number: float
    pair: str | None = None

    def __str__(self) -> str:
        return f"{f'{self.pair}:' if self.pair else ''}{self.name}{self.sign}{self.number:g}"


def parse(text: str, names: Collection[str], pairs: Collection[str]) -> Condition:
    """Raises SettingsError for what is no condition, and for a figure or a pair that there is not, with the list."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise SettingsError(f"--fail-if cannot be {text[:60]!r}; write a figure, >, >=, < or <=, and a number")
    if match["name"] not in names:
        raise SettingsError(f"--fail-if: no figure is called {match['name'][:60]!r}; there are: {', '.join(names)}")
    if match["pair"] is not None and match["pair"] not in pairs:
        raise SettingsError(f"--fail-if: {match['pair'][:60]!r} takes no part; these do: {', '.join(pairs)}")
    return Condition(match["name"], match["sign"], float(match["number"]), match["pair"])


def held(conditions: Sequence[Condition], figures: Mapping[str, Mapping[str, float | None]]) -> Iterator[str]:
    """A sentence for every condition that holds, and for every one that could not be judged; `figures` by pair."""
    for condition in conditions:
        for pair, values in figures.items():
            if condition.pair not in (None, pair):
                continue
            value = values.get(condition.name)
            if value is None:
                yield f"{condition}: {pair} has no such figure"
            elif _OPERATORS[condition.sign](value, condition.number):
                yield f"{condition}: {pair} has {value:g}"
