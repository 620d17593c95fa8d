"""What of a suggestion a person is shown at a place of the live document. Decided anew at every key; asks nobody."""

from collections.abc import Iterable, Sequence

from completion_server.protocol import MAX_ALTERNATIVES, Context, TokenScore
from lsp.answer import Ghost
from lsp.context import plain
from lsp.document import Document
from lsp.indentation import in_style
from lsp.place import Extent
from lsp.refine import refine
from lsp.stream import settled
from lsp.suggestion import Suggestion
from lsp.sureness import shifted, sureness
from lsp.syntax import Cut, Syntax
from lsp.text import Position
from lsp.trim import Surroundings, on_this_line, trim

_AROUND = 4_096  # code points of live text on each side of the cursor that trimming looks at


class Presenter:
    """For one document. `may_begin_below` as in `trim.Surroundings`."""

    def __init__(self, document: Document, *, may_begin_below: bool = False) -> None:
        self.min_confidence = 0.0
        self._document = document
        self._may_begin_below = may_begin_below
        self._parsed: tuple[Context, Syntax] | None = None

    def ghosts(self, suggestions: Iterable[Suggestion], cursor: Position, *, invoked: bool) -> tuple[Ghost, ...]:
        """What of `suggestions` is to be shown at `cursor`: the first, or up to three that differ if asked by hand."""
        found: dict[str, Ghost] = {}
        most = MAX_ALTERNATIVES if invoked else 1
        for suggestion in suggestions:
            if len(found) < most and (ghost := self.ghost(suggestion, cursor, invoked=invoked)) is not None:
                found.setdefault(ghost.text, ghost)
                suggestion.offered = True
        return tuple(found.values())

    def ghost(self, suggestion: Suggestion, cursor: Position, *, invoked: bool = False) -> Ghost | None:
        """What is left of `suggestion` behind `cursor`, trimmed; None where nothing is to be shown.

        One that was offered once is shown again; else it must be whole and sure enough, unless somebody asked by hand.
        """
        live = self._document.text
        typed = suggestion.typed(live, cursor)
        rest = suggestion.rest(live, cursor)
        if typed is None or not rest:
            return None
        before = plain(live.slice(live.back(cursor, _AROUND), cursor))
        after = plain(live.slice(cursor, live.forward(cursor, _AROUND)))
        shown = trim(rest, self._surroundings(before, after))
        if not shown.text:
            return None
        sure = sureness(shifted(suggestion.scores, len(typed)), shown.text)
        if not (invoked or suggestion.offered or (suggestion.whole and sure >= self.min_confidence)):
            return None
        text = shown.text.replace("\n", self.eol(cursor))
        return Ghost(suggestion.id, text, suggestion.anchor, shown.replace, typed, sure)

    def extent(self, context: Context) -> Extent:
        """How far a suggestion at the place of `context` may go; no more is worth asking for."""
        return self._syntax(context).extent

    def styled(self, said: str, context: Context) -> str:
        """What the model said, in the document's style and without cuts."""
        around = self._surroundings(context.before, context.after)
        return in_style(on_this_line(said, around), context.before, context.after)

    def scores_of(self, said: str, scores: Sequence[TokenScore], context: Context) -> tuple[TokenScore, ...]:
        """The scores of `styled`, of which the first line's are right: what is cut off is at the head."""
        around = self._surroundings(context.before, context.after)
        return shifted(scores, len(said) - len(on_this_line(said, around)))

    def fill(self, suggestion: Suggestion, said: str, scores: Sequence[TokenScore], context: Context) -> None:
        """Give `suggestion` what the model said at the place of `context`: in the document's style, cut by syntax.

        Its text is empty where all of it would break what is whole now.
        """
        cut = self._cut(said, context)
        suggestion.text = "" if cut.worse else cut.text
        suggestion.whole = cut.whole
        suggestion.scores = self.scores_of(said, scores, context)

    def head(self, said: str, context: Context, *, words: bool) -> str:
        """What `fill` will give, as far as it stands while the model writes; `words`: parts of the first line too."""
        head = settled(said, self._surroundings(context.before, context.after), words=words)
        return self._cut(head, context).text if head.strip() else ""

    def eol(self, place: Position) -> str:
        """The line end to write there."""
        return self._document.text.eol_near(place.line)

    def _cut(self, said: str, context: Context) -> Cut:
        around = self._surroundings(context.before, context.after)
        return refine(said, context.before, context.after, self._syntax(context), around)

    def _syntax(self, context: Context) -> Syntax:
        """Parsed once for a request, not once more for every piece of its answer."""
        if self._parsed is None or self._parsed[0] is not context:
            self._parsed = context, Syntax(context.before, context.after, context.language)
        return self._parsed[1]

    def _surroundings(self, before: str, after: str) -> Surroundings:
        return Surroundings.of(before, after, self._document.language, may_begin_below=self._may_begin_below)
