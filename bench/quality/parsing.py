"""What tree-sitter says of a text: whether it parses, where its leaves are, which of them are no code.

Offsets are code points here, bytes in tree-sitter. Knows nothing of cursors and suggestions.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, takewhile

from tree_sitter import Node, Parser, Tree

from completion_server.errors import SettingsError
from lsp.grammars import grammar_of

_PROSE = ("comment", "string", "char", "heredoc", "regex", "jsx_text", "rune")  # in the names of nodes
_PAIRS = {")": "(", "]": "[", "}": "{"}
_OPENERS = frozenset(_PAIRS.values())


@dataclass(frozen=True, slots=True)
class Leaf:
    """One token of a program; `prose`: it is a part of a comment or a string, be it code that is written into one."""

    start: int
    end: int
    kind: str
    prose: bool


class Parsed:
    """`text` in a language, by its LSP id. Raises `SettingsError` where there is no grammar for it."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self._tree = _tree(text, language)

    @property
    def ok(self) -> bool:
        return not self._tree.root_node.has_error

    @cached_property
    def leaves(self) -> list[Leaf]:
        """In the order of the text."""
        to_offset = _offsets(self.text)
        return [
            Leaf(to_offset(node.start_byte), to_offset(node.end_byte), node.type, prose)
            for node, prose in _walk(self._tree.root_node, False)
        ]

    def is_prose(self, offset: int) -> bool:
        """Whether what is written at `offset` goes into a comment or a string."""
        index = bisect_right(self.leaves, offset, key=lambda leaf: leaf.start) - 1
        if index < 0 or not self.leaves[index].prose:
            return False
        leaf = self.leaves[index]
        follows = self.leaves[index + 1 : index + 2]
        return leaf.start < offset < leaf.end or (offset >= leaf.end and bool(follows) and follows[0].prose)

    def open_and_surplus(self, start: int, end: int) -> tuple[list[Leaf], list[Leaf]]:
        """Brackets of the code between two offsets: those that stay open, and closers of what was opened before."""
        opened: list[Leaf] = []
        surplus: list[Leaf] = []
        first = bisect_left(self.leaves, start, key=lambda leaf: leaf.start)
        for leaf in takewhile(lambda leaf: leaf.start < end, self.leaves[first:]):
            if leaf.prose:
                continue
            if leaf.kind in _OPENERS:
                opened.append(leaf)
            elif leaf.kind not in _PAIRS:
                continue
            elif opened and opened[-1].kind == _PAIRS[leaf.kind]:
                opened.pop()
            else:
                surplus.append(leaf)
        return opened, surplus


def parses(text: str, language: str) -> bool:
    """Whether `text` is without a syntax error."""
    return not _tree(text, language).root_node.has_error


def _tree(text: str, language: str) -> Tree:
    grammar = grammar_of(language)
    if grammar is None:
        raise SettingsError(f"there is no grammar for {language}")
    return Parser(grammar).parse(text.encode("utf-8", "replace"))


def _walk(node: Node, prose: bool) -> Iterator[tuple[Node, bool]]:
    """All leaves below `node`, and whether each is prose."""
    waiting = [(node, prose)]
    while waiting:
        node, prose = waiting.pop()
        prose = prose or (node.is_named and any(word in node.type for word in _PROSE))
        if node.child_count == 0:
            yield node, prose
        else:
            waiting.extend((child, prose) for child in reversed(node.children))


def _offsets(text: str) -> Callable[[int], int]:
    """From offsets in UTF-8 to offsets in `text`; what UTF-8 cannot encode counts as one byte, as `_tree` writes it."""
    if text.isascii():
        return lambda offset: offset
    starts = list(accumulate((len(char.encode("utf-8", "replace")) for char in text), initial=0))
    return lambda offset: bisect_left(starts, offset)
