"""Pieces cover a feed exactly, fit their shapes, and do not depend on how much was drafted."""

from hypothesis import given
from hypothesis import strategies as st

from completion_server.models.pieces import Piece, Plan, cut

PLAN = Plan(narrow=(4,), wide=(16, 32), first_bucket=32)
BUCKETS = PLAN.buckets(200)


def test_buckets_double_and_end_with_the_whole() -> None:
    assert BUCKETS == [32, 64, 128, 200]
    assert Plan(first_bucket=1024).buckets(256) == [256]


def test_a_warm_key_is_one_pass() -> None:
    assert cut(10, 3, 2, PLAN, BUCKETS) == [Piece(10, 3, 2, 4, 32)]


def test_a_piece_ends_where_a_bucket_ends() -> None:
    assert cut(30, 4, 4, PLAN, BUCKETS) == [Piece(30, 2, 2, 4, 32), Piece(32, 2, 2, 4, 64)]


def test_a_long_prompt_goes_wide_and_its_last_tokens_narrow() -> None:
    assert cut(0, 53, 1, PLAN, BUCKETS) == [
        Piece(0, 32, 0, 32, 32, wide=True),
        Piece(32, 20, 0, 32, 64, wide=True),
        Piece(52, 1, 1, 4, 64),
    ]


@given(st.integers(0, 120), st.integers(1, 70), st.data())
def test_pieces_cover_the_feed_and_fit(start: int, count: int, data: st.DataObject) -> None:
    logits = data.draw(st.integers(0, count))
    pieces = cut(start, count, logits, PLAN, BUCKETS)
    at = start
    for piece in pieces:
        assert piece.start == at
        assert 1 <= piece.count <= piece.width
        assert piece.start + piece.count <= piece.bucket
        assert piece.logits == max(0, min(piece.count, piece.start + piece.count - (start + count - logits)))
        assert not (piece.wide and piece.logits)
        at += piece.count
    assert at == start + count
    assert sum(piece.logits for piece in pieces) == logits


@given(st.integers(0, 100), st.integers(0, 60), st.integers(0, 3))
def test_the_arithmetic_of_a_token_does_not_depend_on_the_drafts_behind_it(start: int, silent: int, k: int) -> None:
    """Width and bucket of every token that stays are the same alone and with k drafts."""

    def arithmetic(drafted: int) -> list[tuple[int, int]]:
        pieces = cut(start, silent + 1 + drafted, 1 + drafted, PLAN, BUCKETS)
        return [(piece.width, piece.bucket) for piece in pieces for _ in range(piece.count)]

    assert arithmetic(k)[: silent + 1] == arithmetic(0)
