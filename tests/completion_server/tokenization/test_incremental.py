"""Re-encoding what changed equals encoding everything."""

import argparse
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.tokenization import Boundary, IncrementalEncoder

SOURCE = inspect.getsource(argparse)
PIECES = st.sampled_from(
    [
        "def f(x):\n",
        "    return x\n",
        "\n",
        "\r\n",
        "\t",
        "    ",
        " ",
        "foo",
        "_",
        ")",
        '"é漢😀"',
        "\n\n\nclass A:\n",
        "7",
    ]
)


@st.composite
def edits(draw):
    """A text, then texts that each come from the last by replacing a part."""
    text = "".join(draw(st.lists(PIECES, max_size=40)))
    texts = [text]
    for _ in range(draw(st.integers(1, 6))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 20)))
        text = text[:begin] + "".join(draw(st.lists(PIECES | st.text(max_size=3), max_size=4))) + text[end:]
        texts.append(text)
    return texts


@given(texts=edits())
def test_equals_the_full_encoding_after_any_edits(tokenizer, texts):
    for continued in (False, True):
        encoder = IncrementalEncoder(tokenizer, continued=continued)
        for text in texts:
            assert encoder.encode(text) == tokenizer.encode(text, continued=continued)


def test_typing_encodes_only_the_last_lines(gpt2_like, monkeypatch):
    encoded = []
    encode = gpt2_like.encode_with_starts
    monkeypatch.setattr(gpt2_like, "encode_with_starts", lambda t, **k: encoded.append(len(t)) or encode(t, **k))
    encoder = IncrementalEncoder(gpt2_like)
    for end in range(60_000, 60_400):
        encoder.encode(SOURCE[:end])
    assert encoded[0] == 60_000
    assert max(encoded[1:]) < 200


def test_the_same_text_again_encodes_nothing(gpt2_like, monkeypatch):
    encoder = IncrementalEncoder(gpt2_like)
    ids = encoder.encode("a\nb")
    monkeypatch.setattr(gpt2_like, "encode_with_starts", None)
    assert encoder.encode("a\nb") == ids


def test_the_list_given_out_is_the_callers(gpt2_like):
    encoder = IncrementalEncoder(gpt2_like)
    encoder.encode("a\nb").clear()
    assert encoder.encode("a\nbc") == gpt2_like.encode("a\nbc")


class TestBoundary:
    def test_qwen_can_be_cut_before_indentation(self, qwen):
        text = "a(\n    b\n\n    c"
        assert qwen.boundary.line_starts
        assert qwen.boundary.last(text, len(text)) == text.index("    c")
        assert qwen.boundary.last(text, text.index("\n\n") + 1) == text.index("\n\n"), "a word ends before a line break"

    def test_a_blank_line_is_no_boundary_for_qwen(self, qwen):
        text = "a(\n)(\n   \n)"
        assert qwen.boundary.last(text, text.index("   ") + 3) == text.index(")(")

    def test_gpt2_is_cut_before_the_line_break_instead(self, gpt2_like):
        text = "a(\n    b"
        assert not gpt2_like.boundary.line_starts
        assert gpt2_like.boundary.last(text, len(text)) == text.index("\n")

    def test_a_boundary_that_the_shared_text_does_not_decide_is_not_used(self, qwen):
        text = "(\n    )"
        assert qwen.boundary.last(text, text.index(")")) == 0, "the next line may still become a blank one"

    def test_it_looks_back_as_far_as_needed(self, qwen):
        assert qwen.boundary.last("(\n(" + "(" * 9_000, 9_003) == 2

    def test_a_tokenizer_that_sees_whole_texts_is_cut_nowhere(self):
        boundary = Boundary.probe(lambda texts, continued: [[hash((text, continued))] for text in texts])
        assert boundary.last("a\nb\nc", 5) == 0


@pytest.mark.benchmark(group="encode 64k code points")
def test_cost_of_a_key_in_a_long_text(benchmark, qwen):
    text = SOURCE[:65_000]
    encoder = IncrementalEncoder(qwen)
    encoder.encode(text)
    ends = iter(range(1, 10**9))

    def key() -> list[int]:
        return encoder.encode(text + "x" * (next(ends) % 40))

    assert len(benchmark.pedantic(key, rounds=100, warmup_rounds=3)) > 10_000
