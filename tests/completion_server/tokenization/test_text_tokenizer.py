"""User text never becomes a control token, and otherwise gets the ids that the tokenizer itself gives."""

import argparse
import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models

from completion_server.errors import UnsupportedModel
from completion_server.tokenization import TextTokenizer

SOURCE = inspect.getsource(argparse)


def test_a_control_token_written_as_text_stays_text(qwen, qwen_backend):
    text = "x = '<|fim_middle|>'"
    assert 151660 in qwen_backend.encode(text, add_special_tokens=False).ids
    assert 151660 not in qwen.encode(text)
    assert qwen.decode(qwen.encode(text)) == text


@pytest.mark.parametrize("text", [SOURCE, "", "é漢😀\r\n\t x\n\n    y", "a\x00b"])
def test_text_without_control_tokens_gets_the_ids_of_the_original(qwen, qwen_backend, text):
    assert qwen.encode(text) == qwen_backend.encode(text, add_special_tokens=False).ids


def test_every_added_token_of_qwen_is_control_and_has_no_bytes(qwen):
    assert qwen.control_ids == frozenset(range(151643, 151665))
    assert {qwen.token_bytes(i) for i in qwen.control_ids} == {b""}


def test_the_real_size_is_that_of_the_tokenizer(qwen, llama_like):
    assert qwen.real_size == len(qwen.vocabulary) == 151665
    assert llama_like.real_size == 3 + 256 + 31 + 8


@given(text=st.text())
def test_the_bytes_of_the_tokens_are_the_text(gpt2_like, text):
    assert gpt2_like.decode_bytes(gpt2_like.encode(text)) == text.encode()


@given(text=st.text(alphabet="def re=\n\t漢😀é", min_size=1))
def test_byte_fallback_gives_the_text_behind_its_leading_space(llama_like, text):
    assert llama_like.decode_bytes(llama_like.encode(text)) == b" " + text.encode()
    assert llama_like.decode_bytes(llama_like.encode(text, continued=True)) == text.encode()


@given(text=st.text(alphabet="ab \n漢", max_size=12))
def test_starts_are_offsets_of_characters(tokenizer, text):
    for continued in (False, True):
        ids, starts = tokenizer.encode_with_starts(text, continued=continued)
        assert ids == tokenizer.encode(text, continued=continued)
        assert starts == sorted(starts)
        assert all(0 <= start < len(text) for start in starts)


def test_control_ids_by_name(qwen, llama_like):
    assert qwen.control_id("<|fim_prefix|>") == 151659
    assert qwen.control_id("<fim_prefix>") is None
    assert qwen.control_id("def") is None, "ordinary text is no control token though it is one token"
    assert llama_like.control_id("<s>") == 1


def test_opening_is_what_the_tokenizer_puts_before_every_text(qwen, llama_like):
    assert qwen.opening == ()
    assert llama_like.opening == (1,)


def test_white_space_and_html_among_the_added_tokens_stay_text(llama_like_backend):
    spec = json.loads(llama_like_backend.to_str())
    spec["model"]["vocab"] |= {"\n\n": 298, "<table>": 299, "<fim>": 300}
    backend = Tokenizer.from_str(json.dumps(spec))
    backend.add_tokens([AddedToken(text, normalized=False) for text in ("\n\n", "<table>", "<fim>")])
    tokenizer = TextTokenizer(backend, end_ids=[2])
    newlines, table, fim = (backend.token_to_id(text) for text in ("\n\n", "<table>", "<fim>"))
    assert newlines in tokenizer.encode("a\n\nb")
    assert table in tokenizer.encode("<table>")
    assert fim not in tokenizer.encode("<fim>")
    assert {newlines, table} & tokenizer.control_ids == set()
    assert fim in tokenizer.control_ids
    assert tokenizer.token_bytes(newlines) == b"\n\n"


def test_a_vocabulary_of_whole_words_is_refused():
    with pytest.raises(UnsupportedModel, match="byte"):
        TextTokenizer(Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]")))
