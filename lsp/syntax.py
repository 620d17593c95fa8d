"""What the grammar says about a place, and how much of a suggestion leaves the text as parseable as it was.

Only a window of text around the cursor is parsed, so that the cost does not grow with the file; what is tried at the
cursor is parsed incrementally on top. Grammars find structure in broken text, and what a person is typing nearly always
is broken, so everything here compares: faults with a suggestion against faults without. Pure; line ends are `\\n`;
knows nothing of positions in a document or of LSP.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node, Parser, Point, Tree

from lsp.brackets import unmatched_closers
from lsp.grammars import canonical, grammar_of
from lsp.leniency import faults_let_pass
from lsp.place import Extent, Place, enclosing_text, place_of
from lsp.syntax_window import closers_left_out, window
from lsp.trim import Surroundings, Trimmed, trim


@dataclass(frozen=True, slots=True)
class Cut:
    """How much of a suggestion to keep.

    `text` is the head of what the model said. `whole`: with it the window has no faults, or where it would have some
    without the cursor's line too, no more than it has now. `worse`: it has more than it has now.
    """

    text: str
    whole: bool = True
    worse: bool = False


class Syntax:
    """The text around one cursor, in one language. Without a grammar everything is kept as it comes."""

    def __init__(self, before: str, after: str, language: str) -> None:
        grammar = grammar_of(language)
        self._language = canonical(language)
        self._parser = Parser(grammar) if grammar else None
        before, after = window(before, after)
        self._line = before.rpartition("\n")[2]
        self._after = after
        self._head, self._tail = before.encode(), (after + closers_left_out(before, after)).encode()

    @cached_property
    def place(self) -> Place:
        """Where the cursor stands."""
        inside = enclosing_text(self._tree.root_node, len(self._head)) if self._tree else None
        above = self._head.decode()[: -len(self._line) or None]
        return place_of(self._line, self._after.partition("\n")[0], above, self._language, inside)

    @property
    def extent(self) -> Extent:
        """How far a suggestion may go here; without a grammar nobody knows, and on a blank line what begins there."""
        return self.place.extent if self._parser and self._line.strip() else "block"

    def cut(self, text: str, around: Surroundings) -> Cut:
        """The longest head of `text`, in whole lines or up to a surplus closer, that brings the fewest faults.

        What is judged is what of it would be shown in `around`. What goes beyond the extent of the place goes first: in
        comments and strings all lines but one, in a statement what follows it.
        """
        if self._tree is None or not text.strip():
            return Cut(text)
        if self.place.extent == "line":
            text = text.partition("\n")[0]
        best, fewest, tree = "", -1, None
        tried: set[Trimmed] = set()
        for head in _heads(text):
            shown = trim(head, around)
            if not shown.text or shown in tried:
                continue
            tried.add(shown)
            parsed = self._with(shown)
            faults = self._faults(parsed, shown.text)
            if fewest < 0 or faults < fewest:
                best, fewest, tree = head, faults, parsed
            if fewest <= self._unavoidable:
                break
        if tree is None:
            return Cut("")
        if "\n" in best and self.place.extent == "statement":
            best, fewest = self._one_statement(best, fewest, tree, around)
        broken_elsewhere = self._unavoidable > 0  # where nothing makes it whole, no worse than now will do
        whole = fewest <= (self._now if broken_elsewhere else 0)
        return Cut(best, whole=whole, worse=fewest > self._now)

    @cached_property
    def _tree(self) -> Tree | None:
        return self._parser.parse(self._head + self._tail) if self._parser else None

    @cached_property
    def _now(self) -> int:
        """Faults of the text as it is."""
        return self._faults(self._tree, "") if self._tree else 0

    @cached_property
    def _unavoidable(self) -> int:
        """Faults that are there with the cursor's own line away: none, mostly."""
        if self._parser is None or self._now == 0:
            return 0
        above = self._head[: len(self._head) - len(self._line.encode())]
        return min(self._now, _errors(self._parser.parse(above + self._tail.partition(b"\n")[2]).root_node))

    def _with(self, shown: Trimmed) -> Tree:
        """The window parsed with `shown` at the cursor."""
        assert self._tree is not None and self._parser is not None  # noqa: S101, PT018 - for the type checker
        new, at = shown.text.encode(), len(self._head)
        old = len(self._after[: shown.replace].encode())
        tree = self._tree.copy()
        row, column = self._head.count(b"\n"), len(self._line.encode())
        rows, last = new.count(b"\n"), len(new.rpartition(b"\n")[2])
        tree.edit(
            at,
            at + old,
            at + len(new),
            Point(row, column),
            Point(row, column + old),
            Point(row + rows, last if rows else column + last),
        )
        return self._parser.parse(self._head + new + self._tail[old:], tree)

    def _faults(self, tree: Tree, text: str) -> int:
        begin = len(self._head) - len(self._line.encode())
        end = len(self._head) + len(text.encode())
        return _errors(tree.root_node) + faults_let_pass(tree.root_node, begin, end, self._language)

    def _one_statement(self, text: str, faults: int, tree: Tree, around: Surroundings) -> tuple[str, int]:
        """`text` up to the end of the statement that begins on the cursor's line, if that brings no more faults."""
        row = self._head.count(b"\n")
        at = len(self._head) - len(self._line.lstrip().encode())
        node = tree.root_node.descendant_for_byte_range(at, at + 1)
        while node and (outer := node.parent) and outer.start_byte == at and outer.parent and outer.type not in _BODIES:
            node = outer
        if node is None or node.start_byte != at:
            return text, faults
        shorter = "\n".join(text.split("\n")[: node.end_point.row - row + 1])
        if shorter == text:
            return text, faults
        shown = trim(shorter, around)
        fewer = self._faults(self._with(shown), shown.text)
        return (shorter, fewer) if fewer <= faults and shown.text else (text, faults)


def _heads(text: str) -> Iterator[str]:
    """What of `text` may be kept, the longest first."""
    yield text
    lines = text.split("\n")
    for count in range(len(lines) - 1, 0, -1):
        if lines[count - 1].strip():
            yield "\n".join(lines[:count])
    for at in reversed(unmatched_closers(lines[0])):
        yield lines[0][:at]


def _errors(root: Node) -> int:
    """How many nodes are errors or were made up for what is missing."""
    count, open_nodes = 0, [root]
    while open_nodes:
        node = open_nodes.pop()
        count += node.is_error or node.is_missing
        if node.has_error:
            open_nodes += node.children
    return count


_BODIES = frozenset(["block", "body_statement", "statement_list", "statements", "template_body"])
"""Nodes that hold statements and begin where the first of them does."""
