"""Text comes out as whole characters."""

from hypothesis import given
from hypothesis import strategies as st

from completion_server.tokenization import StreamDecoder


@given(text=st.text(), cut=st.integers(0, 40))
def test_any_pieces_give_the_whole_text(gpt2_like, text, cut):
    ids = gpt2_like.encode(text)
    decoder = StreamDecoder(gpt2_like)
    assert decoder.feed(ids[:cut]) + decoder.feed(ids[cut:]) == text


def test_half_a_character_waits(llama_like):
    decoder = StreamDecoder(llama_like)
    byte = {i: llama_like.token_bytes(i) for i in range(llama_like.real_size)}
    first, second, third = (next(i for i, b in byte.items() if b == bytes([x])) for x in "漢".encode())
    assert [decoder.feed([i]) for i in (first, second, third)] == ["", "", "漢"]


def test_the_bytes_to_skip_may_end_inside_a_token(gpt2_like):
    ids = gpt2_like.encode("return x")
    decoder = StreamDecoder(gpt2_like, skip=len(b"ret"))
    assert "".join(decoder.feed([i]) for i in ids) == "urn x"


def test_control_tokens_add_nothing(qwen):
    assert StreamDecoder(qwen).feed([151660, *qwen.encode("a"), 151643]) == "a"


def test_bytes_that_are_no_text_become_replacement_characters(llama_like):
    bad = next(i for i in range(llama_like.real_size) if llama_like.token_bytes(i) == b"\xff")
    assert StreamDecoder(llama_like).feed([bad]) == "\ufffd"
