"""Exact prompts: the real tokenizer of Qwen2.5-Coder against the format that its card publishes."""

import json
from pathlib import Path
from typing import Any

import pytest

from completion_server.prompts import DocumentPrompt, Layout, PromptBudget, detect
from completion_server.protocol import Context, Snippet

PREFIX, MIDDLE, SUFFIX, REPOSITORY, FILE = 151659, 151660, 151661, 151663, 151664

GOLDEN = json.loads((Path(__file__).parents[2] / "data/qwen2.5-coder-prompts.json").read_text(encoding="utf-8"))


def build(qwen, before, after, *, healing=False, snippets=(), path=""):
    prompt = DocumentPrompt(qwen, Layout(detect(qwen)[0], qwen), PromptBudget(), healing=healing)
    return prompt.build(Context("d", 1, before, after, "python", path, snippets))


@pytest.mark.parametrize("golden", GOLDEN, ids=[golden["name"] for golden in GOLDEN])
def test_the_published_format(qwen, qwen_backend, golden: dict[str, Any]):
    """The ids stand in the file; they are also what the published tokenizer makes of the published text."""
    snippets = tuple(Snippet(path, text) for path, text in golden["snippets"])
    prompt = build(qwen, golden["before"], golden["after"], snippets=snippets, path=golden["path"])
    assert prompt.tokens == golden["ids"]
    assert (prompt.forced, prompt.forced_tokens) == (b"", [])
    assert qwen_backend.encode(golden["published"], add_special_tokens=False).ids == golden["ids"]


def test_seeded_middle_and_healing(qwen):
    plain = build(qwen, "x = 1\n    retu", "\n")
    assert plain.tokens == [PREFIX, 87, 284, 220, 16, 198, SUFFIX, 198, MIDDLE, 262, 2112, 84]
    healed = build(qwen, "x = 1\n    retu", "\n", healing=True)
    assert healed.tokens == plain.tokens[:-2]
    assert healed.forced_tokens == [2112, 84]
    assert healed.forced == b" retu"


def test_control_tokens_in_user_text_stay_text(qwen):
    everything = "".join(qwen._added)
    prompt = build(
        qwen,
        f"a{everything}\n",
        everything,
        snippets=(Snippet(everything, everything), Snippet("b.py", f"{everything}\n" * 4)),
        path=everything,
    )
    control = [token for token in prompt.tokens if token in qwen.control_ids]
    assert control == [REPOSITORY, FILE, FILE, FILE, PREFIX, SUFFIX, MIDDLE]
    assert qwen.decode(prompt.tokens).count(everything) == 9
