import pytest
from hypothesis import given
from hypothesis import strategies as st

from speculative import odds

chances = st.floats(0.0, 1.0)


def test_even_odds_leave_the_constants():
    # log-odds of one half are 0, so only the constants count: 1 / (1 + e^-1.45) and so on.
    assert odds.agreed(0.5, 0.5) == pytest.approx(0.8100, abs=1e-4)
    assert odds.doubted(0.5) == pytest.approx(0.4256, abs=1e-4)
    assert odds.against(0.5, 0.5) == pytest.approx(0.2142, abs=1e-4)
    assert odds.said(0.5) == pytest.approx(0.4013, abs=1e-4)


@given(chances, chances)
def test_agreement_makes_a_guess_surer_and_contradiction_less_sure(c, p):
    if c < 0.9 and p > 0.2:
        assert odds.agreed(c, p) > c
    if 0.01 < c < 1:
        assert odds.doubted(c) < c


@given(chances, chances, chances)
def test_more_sure_is_never_less_likely(c, p, q):
    low, high = min(p, q), max(p, q)
    assert odds.said(low) <= odds.said(high)
    assert odds.against(c, low) <= odds.against(c, high)
    assert odds.against(high, c) <= odds.against(low, c)
    assert odds.agreed(c, low) <= odds.agreed(c, high)


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_nothing_is_certain(edge):
    for chance in (odds.said(edge), odds.doubted(edge), odds.agreed(edge, edge), odds.against(edge, edge)):
        assert 0 < chance < 1
