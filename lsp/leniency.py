"""Faults that a grammar lets pass because it was made for highlighting: in Python, blocks without a body.

Pure; knows nodes alone.
"""

from tree_sitter import Node


def faults_let_pass(root: Node, begin: int, end: int, language: str) -> int:
    """How many such faults are in the statements that reach into bytes `begin` to `end`."""
    if language != "python":
        return 0
    count, nodes = 0, [root]
    while nodes:
        node = nodes.pop()
        if node.type in _BODIES:
            count += _uneven(node) + (node.type == "block" and not _statements(node))
        elif node.type == "try_statement":
            count += not any(child.type in ("except_clause", "finally_clause") for child in node.named_children)
        nodes += [child for child in node.named_children if child.end_byte >= begin and child.start_byte <= end]
    return count


_BODIES = frozenset(["block", "module"])


def _statements(body: Node) -> list[Node]:
    return [child for child in body.named_children if child.type != "comment"]


def _uneven(body: Node) -> int:
    """How many statements of `body` begin farther right than the first of their block."""
    columns: dict[int, int] = {}  # of the first statement of each row
    for statement in _statements(body):
        columns.setdefault(statement.start_point.row, statement.start_point.column)
    first = next(iter(columns.values()), 0)
    return sum(column > first for column in columns.values())
