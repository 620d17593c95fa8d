"""What the engine remembers of a document between two keys: the state of its prompt and its free drafters."""

from collections import OrderedDict
from dataclasses import dataclass

from completion_server.engine.pair import LoadedPair
from completion_server.prompts import DocumentPrompt, Prompt
from completion_server.protocol import Context
from speculative import Corpus, Drafter, NgramDrafter, OpeningDrafter, Suggestions, TailDrafter

LIMIT = 64  # documents; the one that was used longest ago is forgotten
REST = 512  # code points of an earlier suggestion that are encoded anew: more than fits into the drafts of a request


class DocumentState:
    """One document of one client. `suggestions` are the latest of all documents of that client."""

    def __init__(self, pair: LoadedPair, suggestions: Suggestions) -> None:
        self._text = pair.text
        self._prompt = DocumentPrompt(pair.text, pair.layout, pair.budget, healing=pair.healing)
        self._names = pair.drafters
        self._suggestions = suggestions
        self._tail = TailDrafter()
        self._ngram = NgramDrafter([suggestions])
        self._lookup: list[int] = []
        self._asked: _Asked | None = None  # the latest request
        self._said: list[int] = []  # prompt and continuation of the latest that has any

    def build(self, context: Context, *, healing: bool = True) -> Prompt:
        """The prompt for the cursor of `context`; without `healing` it ends where the text does."""
        earlier = self._asked
        prompt = self._prompt.build(context, healing=healing)
        if prompt.lookup != self._lookup:
            self._lookup = prompt.lookup
            self._ngram.sources = (self._suggestions, Corpus(prompt.lookup))
        self._asked = _Asked(context.before, prompt)
        if earlier is not None and earlier.led_to(self._said):
            length = len(earlier.prompt.tokens)
            self._suggestions.add(self._said[:length], self._said[length:])
            self._move_tail(earlier, self._asked)
            self._said = []
        return prompt

    def drafters(self, prompt: Prompt) -> list[Drafter]:
        """The free drafters of the pair, the better one first; and where `prompt` was healed, what was cut off it."""
        free: dict[str, Drafter] = {self._tail.name: self._tail, self._ngram.name: self._ngram}
        chosen = [drafter for name, drafter in free.items() if name in self._names]
        return [*chosen, OpeningDrafter(prompt.forced_tokens)] if prompt.forced_tokens else chosen

    def remember(self, tokens: list[int]) -> None:
        """`tokens` are prompt and verified continuation of the request that just ended, or was continued since."""
        self._said = tokens
        self._tail.remember(tokens)

    def _move_tail(self, earlier: "_Asked", now: "_Asked") -> None:
        """Encode the rest of the suggestion behind what was typed of it, where its own tokens do not line up.

        They do if the prompt ends between two of them. It may not: tokens were typed in pieces, the window or the
        anchor has moved, or the suggestion began in the middle of a token.
        """
        tokens = now.prompt.tokens
        behind = self._said[len(tokens) :] if self._said[: len(tokens)] == tokens else []
        if behind and self._text.decode_bytes(behind).startswith(now.prompt.forced):
            return
        continued = self._text.decode_bytes(self._said[len(earlier.prompt.tokens) :])
        said = continued[len(earlier.prompt.forced) :].decode("utf-8", errors="ignore")
        whole = earlier.before + said
        if not whole.startswith(now.before) or len(whole) == len(now.before):
            return
        rest = whole[len(now.before) : len(now.before) + REST]
        forced = now.prompt.forced.decode("utf-8", errors="ignore")
        self._tail.remember([*tokens, *self._text.encode(forced + rest, continued=True)])


@dataclass(frozen=True, slots=True)
class _Asked:
    """The text before the cursor of a request, and the prompt that was built for it."""

    before: str
    prompt: Prompt

    def led_to(self, tokens: list[int]) -> bool:
        """Whether `tokens` continue this prompt."""
        length = len(self.prompt.tokens)
        return len(tokens) > length and tokens[:length] == self.prompt.tokens


class Documents:
    """States by (client, document), the most recently used `LIMIT` of them."""

    def __init__(self, pair: LoadedPair) -> None:
        self._pair = pair
        self._states: OrderedDict[tuple[int, str], DocumentState] = OrderedDict()
        self._suggestions: dict[int, Suggestions] = {}  # by client: what one was told is no other's business

    def get(self, client: int, document: str) -> DocumentState:
        key = (client, document)
        state = self._states.get(key)
        if state is None:
            suggestions = self._suggestions.setdefault(client, Suggestions())
            state = self._states[key] = DocumentState(self._pair, suggestions)
            if len(self._states) > LIMIT:
                self._states.popitem(last=False)
        self._states.move_to_end(key)
        return state

    def close(self, client: int, document: str) -> None:
        self._states.pop((client, document), None)

    def close_client(self, client: int) -> None:
        self._suggestions.pop(client, None)
        for key in [key for key in self._states if key[0] == client]:
            del self._states[key]
