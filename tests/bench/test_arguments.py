"""Counts on the benches' command lines."""

import pytest

from bench import arithmetic, engine, lossless, scale
from bench.arguments import at_least
from bench.replay import __main__ as replay


def test_a_number_that_is_large_enough() -> None:
    assert (at_least(1)("1"), at_least(0)("0")) == (1, 0)


@pytest.mark.parametrize("main", [arithmetic.main, engine.main, lossless.main, replay.main, scale.main])
@pytest.mark.parametrize("count", ["0", "-3", "many"])
def test_counts_that_make_no_sense_are_refused(main, count, capsys) -> None:
    flag = "--keys" if main in (replay.main, scale.main) else "--tokens"
    with pytest.raises(SystemExit) as stopped:
        main([flag, count])
    assert stopped.value.code == 2
    assert "no whole number" in (said := capsys.readouterr().err) or "must be at least 1" in said
