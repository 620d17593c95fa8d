"""Exact prompts of every family, with a tokenizer in which each byte of text is a token whose id is that byte.

So the expected ids can be read: `*b"x = 1"` is the text, names are control tokens.
"""

import string
from itertools import count

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from completion_server.prompts import FAMILIES, DocumentPrompt, Layout, PromptBudget
from completion_server.protocol import Context, Snippet
from completion_server.tokenization import TextTokenizer

FAMILY = {family.name: family for family in FAMILIES}
END = "<end>"
SNIPPETS = (Snippet("lib/a.py", "one = 1\n"), Snippet("b.py", "two = 2"))


@pytest.fixture(scope="module")
def bytewise() -> TextTokenizer:
    """Every family's control tokens, numbered from 256 on in the order in which they are met."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pre = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    ids = {pre.pre_tokenize_str(char)[0][0]: ord(char) for char in string.printable}
    free = (number for number in range(256) if number not in ids.values())
    vocabulary = {char: ids[char] if char in ids else next(free) for char in alphabet}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoders.ByteLevel()
    names = dict.fromkeys(token for family in FAMILIES for token in _tokens(family))
    tokenizer.add_tokens([AddedToken(name, normalized=False) for name in (END, *names)])
    return TextTokenizer(tokenizer, end_ids=[256])


def _tokens(family):
    return (*family.control_tokens, *(family.repository.control_tokens if family.repository else ()))


@pytest.fixture
def build(bytewise):
    def build_prompt(family, before, after, snippets=(), *, language="python"):
        prompt = DocumentPrompt(bytewise, Layout(family, bytewise), PromptBudget(), healing=False)
        return prompt.build(Context("d", 1, before, after, language, "src/main.py", snippets)).tokens

    return build_prompt


@pytest.fixture
def written(bytewise):
    """Ids of control tokens by name, and of bytes."""

    def ids(*parts):
        return [i for part in parts for i in ([bytewise.control_id(part)] if isinstance(part, str) else part)]

    return ids


P, S, M = b"p = 1\n", b"\ns = 3\n", b"    m = "

FILES = {
    "qwen": ("<|fim_prefix|>", P, "<|fim_suffix|>", S, "<|fim_middle|>", M),
    "codegemma": ("<|fim_prefix|>", P, "<|fim_suffix|>", S, "<|fim_middle|>", M),
    "starcoder2": ("<fim_prefix>", P, "<fim_suffix>", S, "<fim_middle>", M),
    "granite": ("<fim_prefix>", P, "<fim_suffix>", S, "<fim_middle>", M),
    "mellum": ("<fim_suffix>", S, "<fim_prefix>", P, "<fim_middle>", M),
    "deepseek": ("<｜fim▁begin｜>", P, "<｜fim▁hole｜>", S, "<｜fim▁end｜>", M),
    "codellama": ("▁<PRE>", "▁<SUF>", S, "▁<MID>", P, M),
    "codestral": ("[SUFFIX]", S, "[PREFIX]", P, M),
    "below-first": (S[1:], b"\n# src/main.py\n", P, M),
    "prefix-only": (P, M),
}

UNSEEDED = {
    "qwen": ("<|fim_prefix|>", P, M, "<|fim_suffix|>", S, "<|fim_middle|>"),
    "mellum": ("<fim_suffix>", S, "<fim_prefix>", P, M, "<fim_middle>"),
    "deepseek": ("<｜fim▁begin｜>", P, M, "<｜fim▁hole｜>", S, "<｜fim▁end｜>"),
    "codellama": FILES["codellama"],
    "prefix-only": FILES["prefix-only"],
}

A, B, OWN = b"lib/a.py\none = 1\n", b"b.py\ntwo = 2\n", b"src/main.py\n"

REPOSITORIES = {
    "qwen": (
        *("<|repo_name|>", b"project\n", "<|file_sep|>", A, "<|file_sep|>", B, "<|file_sep|>", OWN),
        *FILES["qwen"],
    ),
    "starcoder2": (
        *("<repo_name>", b"project", "<file_sep>", A, "<file_sep>", B),
        *("<file_sep>", "<fim_prefix>", OWN, P, "<fim_suffix>", S, "<fim_middle>", M),
    ),
    "mellum": ("<filename>", A, "<filename>", B, "<filename>", OWN, *FILES["mellum"]),
    "deepseek": ("<｜fim▁begin｜>", b"# ", A, b"# ", B, b"# ", OWN, *FILES["deepseek"][1:]),
    "codegemma": FILES["codegemma"],
    "granite": FILES["granite"],
    "codellama": FILES["codellama"],
    "codestral": FILES["codestral"],
}


def test_no_family_is_forgotten():
    assert set(FILES) == set(FAMILY)
    assert set(REPOSITORIES) >= {family.name for family in FAMILIES if family.repository}


@pytest.mark.parametrize("name", FILES)
def test_one_file(build, written, name):
    assert build(FAMILY[name], (P + M).decode(), S.decode()) == written(*FILES[name])


@pytest.mark.parametrize("name", UNSEEDED)
def test_without_a_seeded_middle(build, written, name):
    assert build(FAMILY[name].unseeded(), (P + M).decode(), S.decode()) == written(*UNSEEDED[name])


@pytest.mark.parametrize("name", REPOSITORIES)
def test_with_other_files(build, written, name):
    assert build(FAMILY[name], (P + M).decode(), S.decode(), SNIPPETS) == written(*REPOSITORIES[name])


def test_the_path_line_is_a_comment_of_the_language(build, written):
    tokens = build(FAMILY["deepseek"], "x", "", SNIPPETS[:1], language="html")
    begin = ("<｜fim▁begin｜>", b"<!-- lib/a.py -->\none = 1\n<!-- src/main.py -->\n")
    assert tokens == written(*begin, "<｜fim▁hole｜>", "<｜fim▁end｜>", b"x")


@pytest.mark.parametrize("name", FILES)
def test_no_user_text_becomes_a_control_token(build, bytewise, name):
    """Not in the document, in a path or in another file; whatever the family."""
    family = FAMILY[name]
    words = "".join(_tokens(family)) + END
    context = Context("d", 1, f"{words}\n{words}", words, "python", words, (Snippet(words, words),))
    document = DocumentPrompt(bytewise, Layout(family, bytewise), PromptBudget(), healing=False)
    tokens = document.build(context).tokens
    clean = build(family, "x\nx", "x", (Snippet("x", "x"),))
    assert [t for t in tokens if t >= 256] == [t for t in clean if t >= 256]


def test_the_suffix_has_no_space_in_front_where_the_tokenizer_puts_one(llama_like_backend):
    """Code Llama's: `▁<PRE>▁<SUF>`suffix`▁<MID>`prefix, the suffix as it would go on, the prefix as a text begins."""
    backend = Tokenizer.from_str(llama_like_backend.to_str())
    numbers = count(backend.get_vocab_size())
    markers = {name: next(numbers) for name in ("▁<PRE>", "▁<SUF>", "▁<MID>")}
    backend.add_tokens([AddedToken(name, normalized=False) for name in markers])
    tokenizer = TextTokenizer(backend, end_ids=[2])
    document = DocumentPrompt(tokenizer, Layout(FAMILY["codellama"], tokenizer), PromptBudget(), healing=False)
    ids = backend.get_vocab()
    expected = ["<s>", "▁<PRE>", "▁<SUF>", "b", "▁<MID>", "▁def", "▁", "a"]
    assert document.build(Context("d", 1, "def a", "b")).tokens == [ids[piece] for piece in expected]
