"""What the engine remembers of a document between two keys: the state of its prompt and its free drafters."""

from collections import OrderedDict

from completion_server.engine.pair import LoadedPair
from completion_server.prompts import DocumentPrompt, Prompt
from completion_server.protocol import Context
from speculative import Corpus, Drafter, NgramDrafter, OpeningDrafter, TailDrafter

LIMIT = 64  # documents; the one that was used longest ago is forgotten


class DocumentState:
    """One document of one client."""

    def __init__(self, pair: LoadedPair) -> None:
        self._prompt = DocumentPrompt(pair.text, pair.layout, pair.budget, healing=pair.healing)
        self._names = pair.drafters
        self._tail = TailDrafter()
        self._ngram = NgramDrafter()
        self._lookup: list[int] = []

    def build(self, context: Context) -> Prompt:
        """The prompt for the cursor of `context`."""
        prompt = self._prompt.build(context)
        if prompt.lookup != self._lookup:
            self._lookup = prompt.lookup
            self._ngram.corpora = (Corpus(prompt.lookup),)
        return prompt

    def drafters(self, prompt: Prompt) -> list[Drafter]:
        """The free drafters of the pair, the better one first; and where `prompt` was healed, what was cut off it."""
        free: dict[str, Drafter] = {self._tail.name: self._tail, self._ngram.name: self._ngram}
        chosen = [drafter for name, drafter in free.items() if name in self._names]
        return [*chosen, OpeningDrafter(prompt.forced_tokens)] if prompt.forced_tokens else chosen

    def remember(self, tokens: list[int]) -> None:
        """`tokens` are prompt and verified continuation of the request that just ended."""
        self._tail.remember(tokens)


class Documents:
    """States by (client, document), the most recently used `LIMIT` of them."""

    def __init__(self, pair: LoadedPair) -> None:
        self._pair = pair
        self._states: OrderedDict[tuple[int, str], DocumentState] = OrderedDict()

    def get(self, client: int, document: str) -> DocumentState:
        key = (client, document)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = DocumentState(self._pair)
            if len(self._states) > LIMIT:
                self._states.popitem(last=False)
        self._states.move_to_end(key)
        return state

    def close(self, client: int, document: str) -> None:
        self._states.pop((client, document), None)

    def close_client(self, client: int) -> None:
        for key in [key for key in self._states if key[0] == client]:
            del self._states[key]
