"""Whatever stands in a document: its way into a prompt, through front end, wire and layout, has no error for length."""

import lzma
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from completion_server.prompts import FAMILIES, DocumentPrompt, Layout, PromptBudget
from completion_server.protocol import Complete, Snippet
from completion_server.protocol.codec import decode, encode
from completion_server.tokenization import TextTokenizer
from lsp.context import Around, build_context
from lsp.document import Document
from lsp.text import Position
from lsp.window import Window

LIMIT = 4_096  # tokens
FAMILY = {family.name: family for family in FAMILIES}
TEXTS = {
    "empty": "",
    "one character": "x",
    "one line end": "\n",
    "a line of 300 kB": "const x = [" + "1234567," * 37_500 + "]",
    "minified": "function f(a){return a.b?c(a):d}" * 9_000,
    "one word of 300 kB": "x" * 300_000,
    "blanks": " " * 200_000,
    "blank lines": "\n" * 200_000,
    "Windows": "a = 1\r\n" * 40_000,
    "no Latin": "漢字😀" * 50_000,
    "long lines": ("y" * 5_000 + "\n") * 60,
    "16,000 lines": "value = compute(value)\n" * 16_000,
}


@pytest.fixture(scope="module")
def qwen() -> TextTokenizer:
    path = Path(__file__).parents[1] / "data/qwen2.5-tokenizer.json.xz"
    return TextTokenizer(Tokenizer.from_str(lzma.open(path, "rt", encoding="utf-8").read()), end_ids=[151643])


@pytest.mark.parametrize("family", ["qwen", "below-first", "prefix-only"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_prompt_for_any_text(qwen: TextTokenizer, text: str, family: str) -> None:
    document = Document("d", "file:///x", text, 1, "javascript")
    window, layout = Window(document.text), Layout(FAMILY[family], qwen)
    budget = PromptBudget().within(LIMIT, plain=layout.plain)
    prompts = DocumentPrompt(qwen, layout, budget)
    around = Around(snippets=(Snippet("other", text[:8_192]),) * 4)
    end = document.text.end
    places = [Position(0, 0), Position(end.line // 2, len(document.text.line(end.line // 2)) // 2), end]
    for number, place in enumerate(places, start=1):
        request = decode(encode(Complete(number, build_context(document, window, place, "x.js", around))))
        assert isinstance(request, Complete)
        prompt = prompts.build(request.context)
        assert 1 <= len(prompt.tokens) + len(prompt.forced_tokens) <= LIMIT
        edit = document.text.replace(place, place, "y")
        window.on_edit(edit)
        typed = prompts.build(build_context(document, window, edit.new_end, "x.js", around))
        assert (qwen.decode_bytes(typed.tokens) + typed.forced).endswith(b"y")
