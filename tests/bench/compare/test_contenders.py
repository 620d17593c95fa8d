"""Names of pairs as people write them, and what becomes of the engine's command line."""

import pytest

from bench.compare.contenders import MOST, contenders
from completion_server.errors import SettingsError
from completion_server.pairs import ModelRef, Pair, load_pairs


def test_the_three_ways_of_a_pair() -> None:
    whole, free, alone = contenders("embedded, embedded:n-gram,embedded:target-only", load_pairs())
    assert [str(model) for model in whole.pair.models] == ["embedded", "embedded-draft"]
    assert [str(model) for model in free.pair.models] == [str(model) for model in alone.pair.models] == ["embedded"]
    assert whole.options == ("--pair", "embedded")
    assert free.options == ("--pair", "embedded", "--draft", "n-gram")
    assert alone.options == ("--pair", "embedded", "--draft", "n-gram", "--no-drafting")


def test_a_pair_of_that_very_name_comes_first() -> None:
    own = Pair("mine:n-gram", ModelRef("folder", "/models/mine"))
    assert contenders("mine:n-gram", {"mine:n-gram": own})[0].options == ("--pair", "mine:n-gram")


@pytest.mark.parametrize("name", ["other", "embedded:other", "embedded:", "", "other:n-gram"])
def test_an_unknown_name_gets_the_list(name: str) -> None:
    with pytest.raises(SettingsError, match=r"there are: embedded, .*:n-gram .*:target-only"):
        contenders(f"embedded,{name}", load_pairs())


def test_nobody_takes_part_twice_and_not_too_many_do() -> None:
    with pytest.raises(SettingsError, match="'embedded' twice"):
        contenders("embedded,embedded", load_pairs())
    with pytest.raises(SettingsError, match=f"{MOST} at most"):
        contenders(",".join(f"p{number}" for number in range(MOST + 1)), load_pairs())
