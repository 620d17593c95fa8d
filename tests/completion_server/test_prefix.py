from hypothesis import given
from hypothesis import strategies as st

from completion_server.prefix import common_prefix

tokens = st.lists(st.integers(0, 2), max_size=40)


@given(st.text(max_size=50), st.text(max_size=5), st.text(max_size=5))
def test_of_texts(head: str, a: str, b: str) -> None:
    length = common_prefix(head + a, head + b)
    rest_a, rest_b = (head + a)[length:], (head + b)[length:]
    assert (head + a)[:length] == (head + b)[:length]
    assert not rest_a or not rest_b or rest_a[0] != rest_b[0]


@given(tokens, tokens, tokens)
def test_it_is_the_longest_common_prefix(head: list[int], a: list[int], b: list[int]) -> None:
    left, right = head + a, head + b
    expected = next(
        (i for i, (x, y) in enumerate(zip(left, right, strict=False)) if x != y), min(len(left), len(right))
    )
    assert common_prefix(left, right) == expected


def test_by_hand() -> None:
    assert common_prefix([], [1]) == 0
    assert common_prefix([1, 2, 3], [1, 2, 4, 5]) == 2
    assert common_prefix([1, 2], [1, 2, 3]) == 2
    assert common_prefix([9], [8]) == 0
