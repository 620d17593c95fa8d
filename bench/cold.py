"""Time to the first token where nothing is cached: prompts of a given length that the engine has never seen."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from bench.typist import Source
from lsp.headless import HeadlessEditor, Suggestion

PROMPT_TOKENS = 1_500
TOLERANCE = 0.1
_ATTEMPTS = 3  # to find how many characters so many tokens are


async def cold_suggestions(
    editor: HeadlessEditor, sources: Sequence[Source], count: int, seed: int
) -> AsyncIterator[Suggestion]:
    """Suggestions on `count` prompts of about `PROMPT_TOKENS` tokens; fewer if the engine takes no prompt that long.

    Each document begins with a line that no other has, so that not one token of it is cached.
    """
    text = "\n".join(source.text for source in sources)
    length, misses = PROMPT_TOKENS * 3, 0
    while count > 0 and misses < _ATTEMPTS + count:
        number = count + misses
        begin = (number * 7_919) % max(1, len(text) - length)
        body = text[begin:] if len(text) - begin > length else text * (1 + length // max(1, len(text)))
        cut = body[:length].rfind("\n") + 1
        buffer = editor.open(Path(f"cold_{number}.py"), f"# {seed}.{number}\n{body[: cut or length]}")
        buffer.insert("#")  # a key, so that typing and not opening is what is measured
        suggestion = await buffer.suggest()
        buffer.close()
        tokens = int(suggestion.trace["prompt_tokens"])
        if tokens and abs(tokens - PROMPT_TOKENS) <= TOLERANCE * PROMPT_TOKENS:
            count -= 1
            yield suggestion
        else:
            misses += 1
            length = int(length * PROMPT_TOKENS / tokens) if tokens else length
