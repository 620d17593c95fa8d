"""Wherever the cursor is, prompt and mask let the tokens come that the text is going to have."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.prompts.healing import MAX_HEALED, healed_length
from completion_server.tokenization import TextTokenizer
from speculative import PrefixConstraint, TokenBytes

TEXTS = {
    "word": "import numpy as np\nimportlib.reload(module)\n",
    "member": "class A:\n    def f(self):\n        return self.name_of_the_thing\n",
    "spaces": "def f(x):\n    if x:\n        return x\n\n    return None\n",
    "tabs": "func f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
    "string": 'raise ValueError("expected a positive number, not %d" % count)\n',
    "non-ASCII": 'größe = "naïve café 漢字かな😀"  # Übergröße: привет мир\n',
    "CRLF": "def f():\r\n    x = 1\r\n\r\n    return x\r\n",
    "long name": "def test_tokenization_of_internationalization_configuration_files():\n    pass\n",
    "operators": "x  **= y // 2 if a!=b else -1; z->w <<= 0x1F; s = ''.join(r'[^\\s]+')\n",
    "closers": "foo(bar[baz({'a': (1, 2)})]);\n}\n",
}


def split(tokenizer: TextTokenizer, before: str) -> tuple[list[int], bytes]:
    """What stays in the prompt, and the bytes that are to be repeated."""
    ids = tokenizer.encode(before)
    keep = healed_length(ids, tokenizer)
    return ids[:keep], tokenizer.decode_bytes(ids[keep:])


@pytest.fixture(scope="module")
def vocabulary(qwen: TextTokenizer) -> TokenBytes:
    return TokenBytes(qwen.vocabulary)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_tokens_that_an_author_would_write_are_never_ruled_out(
    qwen: TextTokenizer, vocabulary: TokenBytes, text: str
) -> None:
    """At every cursor of a text the prompt is a head of the text's own tokens, and the mask lets the next ones pass."""
    whole = qwen.encode(text)
    for cursor in range(1, len(text)):
        prompt, forced = split(qwen, text[:cursor])
        assert whole[: len(prompt)] == prompt, text[:cursor]
        constraint = PrefixConstraint(vocabulary, forced)
        written: list[int] = []
        for token in whole[len(prompt) :]:
            allowed = constraint.allowed(written)
            if allowed is None:
                break
            assert token in allowed.tolist(), text[:cursor]
            written.append(token)
        assert qwen.decode_bytes(written).startswith(forced)


@pytest.mark.parametrize("tokenizer", ["qwen", "gpt2_like", "llama_like"])
@given(text=st.text("ab_ \n\t(é漢😀.1", max_size=30))
def test_prompt_and_forced_bytes_are_the_text_and_at_most_four_tokens_go(
    request: pytest.FixtureRequest, tokenizer: str, text: str
) -> None:
    made: Any = request.getfixturevalue(tokenizer)
    ids = made.encode(text)
    keep = healed_length(ids, made)
    assert 0 <= len(ids) - keep <= MAX_HEALED
    assert made.decode_bytes(ids[:keep]) + made.decode_bytes(ids[keep:]) == made.decode_bytes(ids)
    assert bool(ids) == (keep < len(ids))  # something is always open to be continued


@pytest.mark.parametrize(
    ("before", "forced"),
    [
        ("x = 1\nimpor", "impor"),
        ("        self.na", "na"),
        ("def f():\n    ", "    "),
        ("func f() {\n\t\t", "\t\t"),
        ("def f():\r\n    ", "    "),
        ('print("hel', "hel"),
        ("größ", "größ"),
        ("foo(", "("),
    ],
)
def test_what_is_repeated_at_places_where_people_type(qwen: TextTokenizer, before: str, forced: str) -> None:
    assert split(qwen, before)[1].decode().endswith(forced)
