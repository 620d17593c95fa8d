"""What kind of place a cursor stands at, and how far a suggestion may go there. Pure; line ends are `\\n`."""

import re
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from lsp.brackets import open_brackets, open_quote

Kind = Literal[
    "mid-word",
    "member",
    "call",
    "assignment",
    "block-start",
    "blank-line",
    "comment",
    "string",
    "rest-of-line",
    "other",
]
Extent = Literal["line", "statement", "block"]


@dataclass(frozen=True, slots=True)
class Place:
    """`extent`: the most that may be suggested: the rest of the line, of the statement, or of the block.

    "rest-of-line": code stands behind the cursor.
    """

    kind: Kind
    extent: Extent


def place_of(line: str, rest: str, above: str, language: str, inside: Literal["comment", "string"] | None) -> Place:
    """`line` and `rest` are the cursor's line around the cursor; `inside` is what the grammar says."""
    if inside:
        return Place(inside, "line")
    if open_quote(line, language):
        return Place("string", "line")
    if rest.strip().strip(_CLOSERS):
        return Place("rest-of-line", "line")
    if not line.strip():
        opened = _OPENS_BLOCK.search(above.rstrip())
        return Place("block-start" if opened else "blank-line", "block")
    if _OPENS_BLOCK.search(line) and not (line.rstrip().endswith(":") and open_brackets(line)):
        return Place("block-start", "block")
    return Place(_within_statement(line), "statement")


def enclosing_text(root: Node, at: int) -> Literal["comment", "string"] | None:
    """Whether byte `at` is in a comment or in a string; None for code within a string."""
    node = root.descendant_for_byte_range(max(at - 1, 0), at)
    while node is not None:
        kind = node.type
        if "interpolation" in kind or "substitution" in kind:
            return None
        inner = node.start_byte < at < node.end_byte
        if "comment" in kind and (inner or (at == node.end_byte and not _closes_comment(node))):
            return "comment"
        if inner and _STRING.search(kind):
            return "string"
        node = node.parent
    return None


def _within_statement(line: str) -> Kind:
    if line[-1].isalnum() or line[-1] == "_":
        return "mid-word"
    if _MEMBER.search(line):
        return "member"
    if _ASSIGNMENT.search(line):
        return "assignment"
    return "call" if open_brackets(line)[-1:] == ["("] else "other"


def _closes_comment(node: Node) -> bool:
    return (node.text or b"").endswith((b"*/", b"-->", b"]]"))


_CLOSERS = ")]}>\"'`,;: \t"
_OPENS_BLOCK = re.compile(r"(?:(?<!:):|\{|\b(?:then|do|else|begin)|=>)\s*\Z")
_MEMBER = re.compile(r"(?:\.|->|::)\Z")
_ASSIGNMENT = re.compile(r"(?<![=!<>])=\s*\Z")
_STRING = re.compile(r"string|heredoc|char_literal|character_literal|rune_literal|template_literal|regex")
