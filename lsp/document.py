"""An open document: its text, its version, and who wants to hear of its edits.

Takes the place of pygls's own text document, which splits the whole text again on every edit and takes more characters
for line ends than LSP does. Knows the client's position encoding; knows nothing of suggestions.
"""

from collections.abc import Callable
from urllib.parse import unquote

from lsprotocol import types

from lsp.positions import Encoding, column_of, units_of
from lsp.text import Edit, Position, Text

Listener = Callable[[Edit], None]


class Document:
    """`key` is unique among all documents that this process has opened and says nothing about the file."""

    def __init__(
        self, key: str, uri: str, source: str = "", version: int = 0, language: str = "", encoding: Encoding = "utf-16"
    ) -> None:
        self.key = key
        self.uri = uri
        self.version = version
        self.language = language
        self.encoding: Encoding = encoding
        self.text = Text(source)
        self.closed = False
        self._listeners: list[Listener] = []

    @property
    def scheme(self) -> str:
        return split_uri(self.uri)[0]

    @property
    def path(self) -> str:
        """The path part of the URI, percent-decoded."""
        return split_uri(self.uri)[1]

    @property
    def possible_paths(self) -> tuple[str, str]:
        """See `possible_paths`."""
        return possible_paths(self.uri)

    def listen(self, listener: Listener) -> None:
        """Call `listener` after every edit, in the order of the edits."""
        self._listeners.append(listener)

    def position(self, wire: types.Position) -> Position:
        """The place that a client means; what is out of range is clamped as the LSP specification says."""
        if wire.line >= self.text.line_count:
            return self.text.end
        if wire.line < 0:
            return Position(0, 0)
        return Position(wire.line, column_of(self.text.line(wire.line), wire.character, self.encoding))

    def wire_position(self, position: Position) -> types.Position:
        line = self.text.line(position.line)
        return types.Position(position.line, units_of(line, position.column, self.encoding))

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Called by pygls's workspace for each content change of a `didChange`."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = sorted((self.position(change.range.start), self.position(change.range.end)))
            edit = self.text.replace(start, end, change.text)
        else:
            edit = self.text.replace_all(change.text)
        for listener in self._listeners:
            listener(edit)


def split_uri(uri: str) -> tuple[str, str]:
    """Scheme, and path without host, query and fragment, percent-decoded. Never raises, whatever a client sends."""
    scheme, colon, rest = uri.partition(":")
    if not colon:
        scheme, rest = "", uri
    path = rest.partition("#")[0].partition("?")[0]
    if path.startswith("//"):
        path = "/" + path[2:].partition("/")[2]
    return scheme.casefold(), unquote(path)


def possible_paths(uri: str) -> tuple[str, str]:
    """The path of `uri`, and what a client means that does not encode `#` and `?`, or forgets the empty host."""
    return split_uri(uri)[1], unquote(uri.partition(":")[2] or uri)
