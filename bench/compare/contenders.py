"""Who takes part: pairs by name, as they are, without their draft model, or without any drafting. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from completion_server.errors import SettingsError
from completion_server.pairs import N_GRAM, Pair, choose

TARGET_ONLY = "target-only"
MOST = 8


@dataclass(frozen=True, slots=True)
class Contender:
    """`name` is as a person wrote it; `options` are those of `foretype serve`."""

    name: str
    pair: Pair
    options: tuple[str, ...]


def contenders(text: str, pairs: Mapping[str, Pair]) -> list[Contender]:
    """Read `A,B:n-gram,C:target-only`: names of `pairs`, in this order.

    Behind a name `:n-gram` leaves the draft model out and `:target-only` all drafting. Raises SettingsError.
    """
    names = [name.strip() for name in text.split(",")]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise SettingsError(f"--pairs names {min(twice)!r} twice")
    if len(names) > MOST:
        raise SettingsError(f"--pairs takes {MOST} at most, not {len(names)}")
    return [_contender(name, pairs) for name in names]


def _contender(name: str, pairs: Mapping[str, Pair]) -> Contender:
    base, _, how = name.rpartition(":")
    if name in pairs:
        return Contender(name, pairs[name], ("--pair", name))
    if base in pairs and how == N_GRAM:
        return Contender(name, choose(pairs, base, draft=N_GRAM), ("--pair", base, "--draft", N_GRAM))
    if base in pairs and how == TARGET_ONLY:
        alone = choose(pairs, base, draft=N_GRAM)
        return Contender(name, alone, ("--pair", base, "--draft", N_GRAM, "--no-drafting"))
    raise SettingsError(
        f"no pair is called {name!r}; there are: {', '.join(pairs)}; each also with :{N_GRAM} behind it (without its "
        f"draft model) or :{TARGET_ONLY} (without any drafting)"
    )
