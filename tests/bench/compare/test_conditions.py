"""The expression of `--fail-if`: what is one, what is none, and when it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.compare.conditions import Condition, held, parse
from bench.compare.figures import names
from completion_server.errors import SettingsError

PAIRS = ("embedded", "embedded:n-gram")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ttft_p95_ms>80", Condition("ttft_p95_ms", ">", 80.0)),
        (" goodput <= 0.5 ", Condition("goodput", "<=", 0.5)),
        ("embedded:load_s<-1", Condition("load_s", "<", -1.0, "embedded")),
        ("embedded:n-gram:ttft_p95_ms>=80", Condition("ttft_p95_ms", ">=", 80.0, "embedded:n-gram")),
    ],
)
def test_what_is_a_condition(text: str, expected: Condition) -> None:
    assert parse(text, names(), PAIRS) == expected


@pytest.mark.parametrize(
    "text",
    ["", "ttft_p95_ms", "ttft_p95_ms>", ">80", "goodput==1", "goodput>1>2", "goodput>nan", "goodput>1e3", "a b>1"],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(SettingsError, match="write a figure"):
        parse(text, names(), PAIRS)


def test_an_unknown_name_gets_the_list() -> None:
    with pytest.raises(SettingsError, match=r"'speed'; there are: keystrokes, .*tokens_per_s"):
        parse("speed>1", names(), PAIRS)
    with pytest.raises(SettingsError, match=r"'other' takes no part; these do: embedded, embedded:n-gram"):
        parse("other:goodput>1", names(), PAIRS)


def test_figures_of_a_part_that_is_left_out_are_no_names() -> None:
    with pytest.raises(SettingsError, match="no figure is called 'tokens_per_s'"):
        parse("tokens_per_s<10", names(("replay", "quality")), PAIRS)


def test_it_is_about_every_pair_or_about_one() -> None:
    figures = {"embedded": {"goodput": 0.9}, "embedded:n-gram": {"goodput": 0.7}}
    every, one = Condition("goodput", "<", 0.95), Condition("goodput", "<", 0.8, "embedded")
    assert list(held([every], figures)) == [
        "goodput<0.95: embedded has 0.9",
        "goodput<0.95: embedded:n-gram has 0.7",
    ]
    assert list(held([one], figures)) == []


def test_what_was_not_measured_fails() -> None:
    figures = {"embedded": {"goodput": None}, "embedded:n-gram": {}}
    assert len(list(held([Condition("goodput", ">", 2.0)], figures))) == 2


@given(
    name=st.sampled_from(names()),
    sign=st.sampled_from([">", ">=", "<", "<="]),
    number=st.integers(-(10**5), 10**5).map(lambda cents: cents / 100),
    pair=st.sampled_from([None, *PAIRS]),
)
def test_what_is_written_is_read(name: str, sign: str, number: float, pair: str | None) -> None:
    condition = Condition(name, sign, number, pair)
    read = parse(str(condition), names(), PAIRS)
    assert (read.name, read.sign, read.pair) == (name, sign, pair)
    assert read.number == pytest.approx(number, rel=1e-5)
