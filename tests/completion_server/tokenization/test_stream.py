"""Text comes out as whole characters."""

import pytest
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


@given(cut=st.integers(1, 12))
def test_a_character_that_is_never_finished_gives_nothing(llama_like, cut):
    data = "é漢😀é".encode()[:cut]
    byte = {llama_like.token_bytes(i): i for i in range(llama_like.real_size)}
    decoder = StreamDecoder(llama_like)
    text = "".join(decoder.feed([byte[bytes([value])]]) for value in data)
    assert text == data.decode(errors="ignore")
    assert decoder.waits == (text.encode() != data)


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xe6\xbc", b"\x80", b"\xed\xa0\x80"])
@pytest.mark.parametrize("together", [True, False])
def test_bytes_that_are_no_text_are_left_out(llama_like, bad, together):
    byte = {llama_like.token_bytes(i): i for i in range(llama_like.real_size)}
    ids = [byte[bytes([value])] for value in b"o" + bad + b"k"]
    decoder = StreamDecoder(llama_like)
    pieces = [ids] if together else [[i] for i in ids]
    assert "".join(map(decoder.feed, pieces)) == "ok"
    assert not decoder.waits
