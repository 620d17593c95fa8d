"""Exact prompts with the tokenizer of Qwen2.5-Coder.

The ids were read off the published tokenizer: 151659 prefix, 151661 suffix, 151660 middle, 151663 repository name,
151664 file separator.
"""

from completion_server.prompts import DocumentPrompt, Layout, PromptBudget, detect
from completion_server.protocol import Context, Snippet

PREFIX, MIDDLE, SUFFIX, REPOSITORY, FILE = 151659, 151660, 151661, 151663, 151664


def build(qwen, before, after, *, healing=False, snippets=(), path=""):
    prompt = DocumentPrompt(qwen, Layout(detect(qwen)[0], qwen), PromptBudget(), healing=healing)
    return prompt.build(Context("d", 1, before, after, "python", path, snippets))


def test_file(qwen):
    prompt = build(qwen, "def add(a, b):\n", "\n\nprint(add(1, 2))\n")
    assert prompt.tokens == [
        *(PREFIX, 750, 912, 2877, 11, 293, 982),
        *(SUFFIX, 271, 1350, 25906, 7, 16, 11, 220, 17, 1171),
        MIDDLE,
    ]
    assert prompt.forced == b""


def test_repository(qwen):
    prompt = build(qwen, "import util\n", "", snippets=(Snippet("util.py", "x = 1"),), path="main.py")
    assert prompt.tokens == [
        *(REPOSITORY, 4987, 198),
        *(FILE, 1314, 7197, 198, 87, 284, 220, 16, 198),
        *(FILE, 3817, 7197, 198),
        *(PREFIX, 474, 4094, 198),
        SUFFIX,
        MIDDLE,
    ]


def test_seeded_middle_and_healing(qwen):
    plain = build(qwen, "x = 1\n    retu", "\n")
    assert plain.tokens == [PREFIX, 87, 284, 220, 16, 198, SUFFIX, 198, MIDDLE, 262, 2112, 84]
    healed = build(qwen, "x = 1\n    retu", "\n", healing=True)
    assert healed.tokens == plain.tokens[:-2]
    assert healed.forced_tokens == [2112, 84]
    assert healed.forced == b" retu"


def test_control_tokens_in_the_document_stay_text(qwen):
    prompt = build(qwen, "a<|fim_middle|>\n", "<|fim_prefix|>", snippets=(Snippet("<|file_sep|>", "<|endoftext|>"),))
    control = [token for token in prompt.tokens if token in qwen.control_ids]
    assert control == [REPOSITORY, FILE, FILE, PREFIX, SUFFIX, MIDDLE]
