"""A family with the ids of one tokenizer: puts the parts of a prompt in their order. Knows nothing of documents."""

from collections.abc import Sequence
from dataclasses import dataclass

from completion_server.errors import UnsupportedModel
from completion_server.prompts.comments import comment
from completion_server.prompts.families import Family, Repository, Slot
from completion_server.prompts.window import CHARS_PER_TOKEN
from completion_server.protocol import Snippet
from completion_server.tokenization import TextTokenizer

_REPOSITORY_NAME = "project"  # the front end does not send one, and it must not change between requests
_WORTH = 32  # tokens; a shorter piece of a file tells the model nothing


@dataclass(frozen=True, slots=True)
class Header:
    """Ids of other files and of the line that names the edited one: `head` opens the prompt, `lead` its prefix."""

    head: tuple[int, ...] = ()
    lead: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.head or self.lead)


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
        return self.family.has_suffix

    @property
    def has_below(self) -> bool:
        return Slot.BELOW in self._parts

    @property
    def plain(self) -> bool:
        """The model knows no markers: what it reads is text and nothing else."""
        return self.has_below or not self.has_suffix

    def assemble(self, header: Header, prefix: Sequence[int], suffix: Sequence[int], typed: Sequence[int]) -> list[int]:
        """Ids of the whole prompt. An empty one is the end of the text before."""
        slots = {Slot.PREFIX: (*header.lead, *prefix), Slot.SUFFIX: suffix, Slot.BELOW: suffix, Slot.TYPED: typed}
        ids = [*self._tokenizer.opening, *header.head]
        for part in self._parts:
            if isinstance(part, Slot):
                ids += slots[part]
            else:
                ids.append(part)
        return ids or list(self._empty)

    def header(self, snippets: Sequence[Snippet], path: str, language: str, budget: int) -> Header:
        """Other files and the edited one's path: at most `budget` ids, comment marks not counted.

        The last snippet may be cut short. Without snippets, or in a family that was shown no repositories, it is empty.
        """
        if self.has_below:  # a line between the text below and the text above
            end = path.encode("utf-8", "replace")[-budget:].decode("utf-8", "ignore")  # no token has less than a byte
            line = comment(end, language)
            return Header(lead=tuple(self._tokenizer.encode(f"\n{line}\n", continued=True)))
        form = self.family.repository
        if form is None or not snippets or not self._has(form):
            return Header()
        own = self._file(form, path, language, "")
        name: list[int] = []
        if form.name:
            text = _REPOSITORY_NAME + form.behind_name
            name = [_control_id(self._tokenizer, form.name), *self._tokenizer.encode(text)]
        room = budget - len(own) - len(name)
        files: list[int] = []
        for snippet in snippets:
            if room - len(files) < _WORTH:
                break
            text = snippet.text[: room * CHARS_PER_TOKEN].rstrip("\n") + "\n"
            files += self._file(form, snippet.path, language, text)
        if not files:
            return Header()
        return self._split(form, name + files[:room], own)

    def _file(self, form: Repository, path: str, language: str, text: str) -> list[int]:
        """One file; `language` is that of the edited one, whose comments mark the others too."""
        if not form.file:
            return self._tokenizer.encode(f"{comment(path, language)}\n{text}")
        return [_control_id(self._tokenizer, form.file), *self._tokenizer.encode(f"{path}\n{text}")]

    def _split(self, form: Repository, files: list[int], own: list[int]) -> Header:
        if not form.inside:
            return Header(head=(*files, *own))
        if not form.file:
            return Header(lead=(*files, *own))
        return Header(head=(*files, own[0]), lead=tuple(own[1:]))

    def _has(self, form: Repository) -> bool:
        return all(self._tokenizer.control_id(token) is not None for token in form.control_tokens)


def _control_id(tokenizer: TextTokenizer, token: str) -> int:
    index = tokenizer.control_id(token)
    if index is None:
        raise UnsupportedModel(f"the tokenizer has no single token {token}; choose another layout for this model")
    return index
