"""From an answer to the item that a client is sent."""

from lsprotocol import types

from lsp.completor import Answer
from lsp.document import Document


def to_items(
    document: Document, answer: Answer, context: types.InlineCompletionContext, command: types.Command
) -> list[types.InlineCompletionItem]:
    """At most one item, at an empty range; none for an empty answer.

    While the editor's own completion menu is open only an item that continues the selected entry can be shown: it then
    takes the entry's range and begins with the entry's text.
    """
    if not answer.text:
        return []
    here = document.wire_position(answer.position)
    selected = context.selected_completion_info
    if selected is None:
        return [types.InlineCompletionItem(answer.text, range=types.Range(here, here), command=command)]
    start, end = document.position(selected.range.start), document.position(selected.range.end)
    text = document.text.slice(start, answer.position) + answer.text
    if end != answer.position or not text.startswith(selected.text):
        return []
    return [types.InlineCompletionItem(text, range=selected.range, command=command)]
