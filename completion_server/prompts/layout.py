"""A family with the ids of one tokenizer: puts the parts of a prompt in their order. Knows nothing of documents."""

from collections.abc import Sequence

from completion_server.errors import UnsupportedModel
from completion_server.prompts.families import Family, Slot
from completion_server.prompts.window import CHARS_PER_TOKEN
from completion_server.protocol import Snippet
from completion_server.tokenization import TextTokenizer

_REPOSITORY_NAME = "project"  # the front end does not send one, and it must not change between requests
_WORTH = 32  # tokens; a shorter piece of a file tells the model nothing


class Layout:
    """`stop_ids`: any of them ends a suggestion; every control token is one."""

    def __init__(self, family: Family, tokenizer: TextTokenizer) -> None:
        self.family = family
        self.stop_ids = tokenizer.control_ids
        self._tokenizer = tokenizer
        self._parts = tuple(part if isinstance(part, Slot) else _control_id(tokenizer, part) for part in family.parts)
        self._empty = tokenizer.end_ids[:1] or (min(tokenizer.control_ids, default=0),)

    @property
    def has_suffix(self) -> bool:
        return Slot.SUFFIX in self._parts

    def assemble(
        self, head: Sequence[int], prefix: Sequence[int], suffix: Sequence[int], typed: Sequence[int]
    ) -> list[int]:
        """Ids of the whole prompt; `head` is what `header` gave. An empty one is the end of the text before."""
        slots = {Slot.PREFIX: prefix, Slot.SUFFIX: suffix, Slot.TYPED: typed}
        ids = [*self._tokenizer.opening, *head]
        for part in self._parts:
            if isinstance(part, Slot):
                ids += slots[part]
            else:
                ids.append(part)
        return ids or list(self._empty)

    def header(self, snippets: Sequence[Snippet], path: str, budget: int) -> list[int]:
        """Ids of other files and of the line that names the edited one: at most `budget` of them.

        The last snippet may be cut short. Without snippets, or in a family that was not trained on repositories,
        there is no header.
        """
        if self.family.repository is None or not snippets:
            return []
        name_id, file_id = (self._tokenizer.control_id(token) for token in self.family.repository)
        if file_id is None:
            return []
        own = [file_id, *self._tokenizer.encode(f"{path}\n")]
        name = [name_id, *self._tokenizer.encode(f"{_REPOSITORY_NAME}\n")] if name_id is not None else []
        room = budget - len(own) - len(name)
        ids = name.copy()
        for snippet in snippets:
            if room < _WORTH:
                break
            text = snippet.text if snippet.text.endswith("\n") else snippet.text + "\n"
            piece = [file_id, *self._tokenizer.encode(f"{snippet.path}\n{text[: room * CHARS_PER_TOKEN]}")][:room]
            room -= len(piece)
            ids += piece
        return ids + own if len(ids) > len(name) else []


def _control_id(tokenizer: TextTokenizer, token: str) -> int:
    index = tokenizer.control_id(token)
    if index is None:
        raise UnsupportedModel(f"the tokenizer has no single token {token}; choose another layout for this model")
    return index
