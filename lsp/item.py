"""From an answer to the items that a client is sent."""

from lsprotocol import types

from lsp.answer import Answer, Ghost
from lsp.document import Document
from lsp.text import Position

ACCEPTED = "foretype.accepted"
"""Command of every item; its one argument is the suggestion's id."""


def to_items(
    document: Document, answer: Answer, context: types.InlineCompletionContext
) -> list[tuple[types.InlineCompletionItem, Ghost]]:
    """An item for each ghost that can be shown, at the cursor or in place of what it replaces.

    While the editor's own completion menu is open only an item that continues the selected entry can be shown: it then
    takes the entry's range and begins with the entry's text.
    """
    selected = context.selected_completion_info
    items = ((_item(document, answer.position, ghost, selected), ghost) for ghost in answer.ghosts)
    return [(item, ghost) for item, ghost in items if item is not None]


def id_of(item: object) -> str | None:
    """The suggestion's id in an item that a client sends back, as pygls reads it; None where there is none."""
    arguments = getattr(getattr(item, "command", None), "arguments", None)
    first = arguments[0] if isinstance(arguments, list | tuple) and arguments else None
    return first if isinstance(first, str) else None


def _item(
    document: Document, position: Position, ghost: Ghost, selected: types.SelectedCompletionInfo | None
) -> types.InlineCompletionItem | None:
    command = types.Command("Foretype: accepted", ACCEPTED, arguments=[ghost.id])
    if selected is None:
        start, end = (
            document.wire_position(Position(position.line, position.column + more)) for more in (0, ghost.replace)
        )
        return types.InlineCompletionItem(ghost.text, range=types.Range(start, end), command=command)
    begin, over = document.position(selected.range.start), document.position(selected.range.end)
    text = document.text.slice(begin, position) + ghost.text
    if ghost.replace or over != position or not text.startswith(selected.text):
        return None
    return types.InlineCompletionItem(text, range=selected.range, command=command)
