import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from speculative.constraint import PrefixConstraint, TokenBytes, constrain

#               0      1     2      3      4    5       6     7
VOCABULARY = [b"re", b"r", b"ret", b"turn", b"e", b"return", b"", b"t"]


def ids(allowed):
    return None if allowed is None else allowed.tolist()


def test_tokens_that_continue_or_cover_the_forced_bytes_are_allowed():
    constraint = PrefixConstraint(TokenBytes(VOCABULARY), b"ret")
    assert ids(constraint.allowed([])) == [0, 1, 2, 5]  # re, r, ret, return
    assert ids(constraint.allowed([0])) == [3, 7]  # re: turn covers it, t ends it
    assert ids(constraint.allowed([1])) == [4]  # r: only e, there is no "et"
    assert constraint.allowed([1, 4, 7]) is None
    assert constraint.allowed([2]) is None
    assert constraint.allowed([5, 6, 6]) is None


def test_a_token_behind_which_nothing_can_follow_is_not_allowed():
    #                                                   "ab" + "c" spells it, "a" would be a dead end
    constraint = PrefixConstraint(TokenBytes([b"a", b"ab", b"c"]), b"abc")
    assert ids(constraint.allowed([])) == [1]
    assert ids(constraint.allowed([1])) == [2]


def test_bytes_that_no_tokens_spell_are_not_forced():
    constraint = PrefixConstraint(TokenBytes([b"a", b"b"]), b"xa")
    assert constraint.allowed([]) is None
    assert constraint.allowed([0]) is None
    assert PrefixConstraint(TokenBytes([b"a"]), b"").allowed([]) is None


def test_other_text_than_forced_and_unknown_ids_lift_the_mask():
    constraint = PrefixConstraint(TokenBytes(VOCABULARY), b"ret")
    assert constraint.allowed([3]) is None
    assert constraint.allowed([6]) is None
    assert constraint.allowed([-1]) is None
    assert constraint.allowed([2**40]) is None


def test_token_bytes_look_up():
    tokens = TokenBytes([b"\xff", b"a", b"\xff\xff", b"ab", b"", b"a", b"b", b"a\x00", b"a\xff"])
    assert sorted(tokens.starting_with(b"a")) == [1, 3, 5, 7, 8]
    assert sorted(tokens.starting_with(b"\xff")) == [0, 2]
    assert tokens.starting_with(b"a\xff") == [8]
    assert sorted(tokens.equal_to(b"a")) == [1, 5]
    assert tokens.equal_to(b"") == []
    assert tokens.starting_with(b"") == []
    assert tokens[3] == b"ab"
    assert tokens[-1] == tokens[9] == b""
    assert len(tokens) == 9


SPELLED = st.binary(max_size=3).map(lambda raw: bytes(b"a\xffb"[x % 3] for x in raw))


@given(st.lists(SPELLED, max_size=12), SPELLED)
def test_look_ups_equal_a_scan(spelled, key):
    tokens = TokenBytes(spelled)
    scan = [i for i, t in enumerate(spelled) if t and t.startswith(key)] if key else []
    assert sorted(tokens.starting_with(key)) == scan
    assert sorted(tokens.equal_to(key)) == [i for i, t in enumerate(spelled) if t == key and t]


@given(st.lists(SPELLED, max_size=8), SPELLED.filter(bool), st.randoms(use_true_random=False), st.booleans())
def test_it_always_gets_to_the_end_and_spells_what_is_forced(spelled, forced, random, byte_level):
    if byte_level:
        spelled = [*spelled, b"a", b"\xff", b"b"]
    constraint = PrefixConstraint(TokenBytes(spelled), forced)
    if constraint.allowed([]) is None:
        assert not byte_level
        return
    generated: list[int] = []
    while (allowed := constraint.allowed(generated)) is not None:
        assert allowed.dtype == torch.int64
        generated.append(random.choice(allowed.tolist()))
        assert len(generated) <= len(forced)
    assert b"".join(spelled[i] for i in generated).startswith(forced)


def test_each_row_is_masked_for_the_drafts_before_it():
    logits = torch.zeros(3, 8)
    masked = constrain(logits, PrefixConstraint(TokenBytes(VOCABULARY), b"ret"), [], [0, 7])
    assert [row.isfinite().nonzero().flatten().tolist() for row in masked] == [[0, 1, 2, 5], [3, 7], list(range(8))]
    assert torch.equal(logits, torch.zeros(3, 8))


@pytest.mark.parametrize("stranger", [-1, 8, 2**40])
def test_rows_behind_an_id_that_does_not_exist_stay_as_they_are(stranger):
    masked = constrain(torch.zeros(3, 8), PrefixConstraint(TokenBytes(VOCABULARY), b"ret"), [], [stranger, 0])
    assert masked[0].isfinite().sum() == 4
    assert masked[1:].isfinite().all()


def test_without_anything_to_mask_logits_pass_through():
    logits = torch.zeros(2, 8)
    assert constrain(logits, None, [], [0]) is logits
    assert constrain(logits, PrefixConstraint(TokenBytes(VOCABULARY), b"ret"), [5], [0]) is logits
