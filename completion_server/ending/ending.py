"""Where a suggestion ends, decided while its text is verified, so that the engine can stop early.

Only indentation and brackets are looked at. What stands does not depend on how the text was cut into pieces, and what
has been given out is never taken back. Control tokens don't reach this: the engine stops at their ids. Trimming
against the text after the cursor is the front end's.

The rules, in the order in which they apply:

- Text behind the cursor on its line, other than closers: the rest of that line, nothing more.
- A closer that stands right behind the cursor already ends the suggestion before it is written again. Where nothing
  but brackets and quotes stands there the line goes on to its end, behind all of them, with the block that it may
  open: what of that is worth having, the front end decides.
- A line indented less than the first one, or one that begins with a closer of a bracket that the suggestion did not
  open, leaves the block. So does, after a blank line, a line indented no more than the first one. The closer of a
  bracket opened on the cursor's own line is still written if no such closer follows below.
- Of three or more equal lines the first stays, and so does the first copy of any phrase that goes round in a loop. Of
  four or more lines that differ only in their numbers the first three stay, and names that begin to stutter
  (`size_size`) end it with the line before.
- Of `one_statement`: the line with which the brackets that the statement opened are closed, if its end says that
  nothing follows, and no line below is indented deeper. One that opens a block goes on by the other rules.
- At most `max_lines` lines. Where that or the limit of tokens cuts, whole statements stay and what they leave behind
  goes: half a line, half a call, the head of a block without its body. Blank lines at the end are dropped.
"""

from completion_server.ending.brackets import CLOSERS, BracketScanner
from completion_server.ending.raw_text import RawText
from completion_server.ending.repetition import loop_end, same_but_for_numbers, stutter
from completion_server.ending.statements import ends_at_line_end, indent_of, is_finished, opens_block, tab_width
from completion_server.protocol import Complete, FinishReason

_REACH = 2_000  # code points of the cursor's line that are looked at
_MAX_BLANK_LINES = 3
_EQUAL_LINES = 3
_COUNTING_LINES = 4
_QUOTES = frozenset("\"'`")


class Ending:
    """Takes the text of one suggestion piece by piece.

    `before` and `after` are the document around the cursor, of which the cursor's line and the next are looked at.
    `finished` is None until the end is found.
    """

    def __init__(
        self, before: str, after: str, language: str = "", max_lines: int = 12, *, one_statement: bool = False
    ) -> None:
        line = before[before.rfind("\n") + 1 :][-_REACH:]
        rest, _, below = after.partition("\n")
        self.finished: FinishReason | None = None
        self._before = before[-_REACH:]
        self._text_follows = bool(rest.strip(" \t\r)]}>\"'`,;:"))
        self._max_lines = 1 if self._text_follows else max_lines
        self._rest = "" if self._text_follows else rest.strip()
        self._below = below.lstrip()

        self._line = line  # the line being written, from its first column on
        self._lines = 1
        self._blank_lines = 0  # since the last line with text
        self._tab = tab_width(self._before)
        self._floor = indent_of(line, self._tab)
        self._base = self._floor if line.strip() else None  # indentation of the first line with text
        self._last_line: str | None = None  # with text, ended
        self._repeats = 1  # lines in a row that equal the last one, itself included
        self._counting = [0]  # where lines end in `text` that differ from the next only in their numbers
        self._line_ends: list[int] = []  # lengths of `text` up to the end of a line
        self._wholes = [0]  # lengths of `text` up to a line that ends a statement

        self._stands: list[str] = []
        self._written = ""  # all of it
        self._held: list[str] = []  # white space, and lines that may turn out to be a loop

        self._scanner = BracketScanner(language)
        for char in line:
            self._scanner.take(char)
        self._in_quote_of_cursor = bool(self._scanner.quote)
        self._rest_closers = [char for char in self._rest if char in CLOSERS]
        self._open_here = _without(self._scanner.open, self._rest_closers)  # closers that the cursor's line still needs
        self._scanner.open = []  # from here on: brackets that the suggestion opened
        self._ends_with_line = False
        self._language = language
        self._one_statement = one_statement
        self._may_end = False  # with the line above, if the one that is being written is no part of its statement
        self._may_go_beyond = bool(self._rest) and CLOSERS.union(_QUOTES, " \t").issuperset(self._rest)
        self._one_line = self._in_quote_of_cursor
        self._beyond = False  # a closer of the rest of the line has been written
        self._block_beyond = False  # behind the closers a block began that ends by its indentation

    @property
    def text(self) -> str:
        """What stands so far. It only grows, but for the end: a loop, or half a statement at the limit, goes."""
        return "".join(self._stands)

    def feed(self, text: str) -> str:
        """Take more text; returns what stands since the last call."""
        begin = len(self._stands)
        for char in text:
            if self.finished:
                break
            if char == "\n":
                self._end_line()
            elif char.isspace():
                self._take(char)
            else:
                self._add(char)
            self._written += char
            if not self.finished and (end := loop_end(self._written)) is not None:
                self._cut(end)
        return "".join(self._stands[begin:])

    def finish(self, reason: FinishReason) -> str:
        """No more text comes, for `reason`; returns what stands since the last call."""
        begin = len(self._stands)
        if not self.finished:
            looped = self._equals_last_line() and self._repeats + 1 >= _EQUAL_LINES
            self._stop("loop" if looped else reason)
            if reason == "length" and self._last_line is not None:
                self._keep_whole()
        return "".join(self._stands[begin:])

    def _add(self, char: str) -> None:
        """A character that is no white space."""
        if not self._line.strip() and self._leaves_block(char):
            self._stop("end-of-block")
        elif self._is_outer_closer(char) and not self._may_close(char) and not self._goes_beyond(char):
            self._stop("end-of-line" if self._lines == 1 else "end-of-block")
        elif self._closes_rest_quote(char) and not self._may_go_beyond:
            self._stop("end-of-line")
        else:
            self._beyond = self._beyond or self._closes_rest_quote(char)
            self._take(char)
            if self._last_line is None or not self._last_line.startswith(self._line):
                self._release()

    def _take(self, char: str) -> None:
        self._line += char
        self._held.append(char)
        self._scanner.take(char)
        self._in_quote_of_cursor = self._in_quote_of_cursor and bool(self._scanner.quote)

    def _is_outer_closer(self, char: str) -> bool:
        return char in CLOSERS and not self._scanner.open and not self._scanner.in_text

    def _leaves_block(self, char: str) -> bool:
        """Decide, at the first text of a line, whether the line belongs to the block that the suggestion is in."""
        indent = indent_of(self._line, self._tab)
        if self._may_end:
            if indent <= self._floor and char != "{":
                return True
            self._may_end = self._one_statement = False
        if self._base is None:
            if self._lines > 1 and indent < self._floor:
                return True
            self._base = indent
            return False
        if indent < self._base:
            return True
        if indent > self._base or self._scanner.open or self._scanner.triple or char in CLOSERS:
            return False
        return bool(self._rest) or (self._blank_lines > 0 and bool(self._stands))

    def _may_close(self, closer: str) -> bool:
        """Whether a closer of a bracket that the suggestion did not open belongs to it."""
        if self._beyond:
            return False
        leads = not self._line.strip()
        if self._open_here and self._open_here[-1] == closer:
            if leads and (self._below.startswith(closer) or indent_of(self._line, self._tab) != self._base):
                return False
            self._open_here.pop()
            self._ends_with_line = leads and not self._open_here
            return True
        if closer in self._rest_closers:
            if leads:
                self._release()  # the closer behind the cursor moves to a line of its own
            return False
        if leads and (self._stands or self._below.startswith(closer)):
            return False
        self._ends_with_line = self._ends_with_line or leads
        return True

    def _closes_rest_quote(self, char: str) -> bool:
        return self._in_quote_of_cursor and self._rest.startswith(char) and self._scanner.closes_quote(char)

    def _goes_beyond(self, closer: str) -> bool:
        """Whether an outer closer is the next of those behind the cursor, which are then written up to the last."""
        if not self._may_go_beyond or self._rest_closers[:1] != [closer]:
            return False
        del self._rest_closers[0]
        self._beyond = True
        return True

    def _ends_with_rest(self) -> bool:
        """Whether the line that ends is the last one because of what stands behind the cursor."""
        if not self._beyond:
            return bool(self._rest) and not self._rest_closers
        if self._rest_closers or self._one_line:
            return True
        self._block_beyond = self._block_beyond or self._line.rstrip().endswith(":")
        return not self._scanner.open and not self._block_beyond

    def _ends_one_statement(self) -> bool:
        """Whether the line that ends is the last of the only statement; `_may_end` where the next one will tell."""
        if not self._one_statement or not self._line.strip():
            return False
        if self._scanner.open or self._scanner.triple or self._open_here or self._rest_closers:
            return False
        if opens_block(self._line):
            self._one_statement = False
        elif is_finished(self._line):
            self._may_end = not ends_at_line_end(self._line, self._language)
            return not self._may_end
        return False

    def _end_line(self) -> None:
        if not self._line.strip():
            self._blank_lines += 1
        elif self._equals_last_line():
            self._blank_lines = 0
            self._repeats += 1
        else:
            counts_on = self._last_line is not None and same_but_for_numbers(self._line.rstrip(), self._last_line)
            self._blank_lines, self._repeats = 0, 1
            self._last_line = self._line.rstrip()
            self._release(space=False)
            self._counting = [*(self._counting if counts_on else ()), len(self._stands)]
        if self._line.strip():
            self._mark_end()
        said_twice = stutter(self._line)
        if said_twice and len(self._line_ends) > 1 and said_twice not in self._before:
            self._cut(self._line_ends[-2])
        elif len(self._counting) >= _COUNTING_LINES:
            self._cut(self._counting[-2])
        elif self._repeats >= _EQUAL_LINES:
            self._stop("loop")
        elif self._max_lines == 1 or self._ends_with_rest() or self._ends_one_statement():
            self._stop("end-of-line")
        elif self._blank_lines > _MAX_BLANK_LINES or (self._ends_with_line and not self._scanner.open):
            self._stop("end-of-block")
        elif self._lines == self._max_lines:
            self._stop("length")
            self._keep_whole()
        else:
            self._lines += 1
            self._line = ""
            self._held.append("\n")
            self._scanner.end_line()

    def _equals_last_line(self) -> bool:
        return bool(self._line.strip()) and self._line.rstrip() == self._last_line

    def _release(self, *, space: bool = True) -> None:
        """What was held stands; without `space`, the white space at its end stays held."""
        held = "".join(self._held)
        text = held if space else held.rstrip()
        self._stands += text
        self._held = list(held[len(text) :])

    def _cut(self, end: int) -> None:
        """Stop, and take back what stands behind `end`."""
        self._stop("loop")
        self._stands = list("".join(self._stands)[:end].rstrip())
        self._keep_whole()

    def _mark_end(self) -> None:
        """A line with text has ended: note where, and whether a statement does, what is held counted."""
        end = len(self._stands) + len("".join(self._held).rstrip())
        self._line_ends.append(end)
        if self._ends_statement():
            self._wholes.append(end)

    def _ends_statement(self) -> bool:
        """Whether the line that has just ended leaves nothing open but blocks that have begun."""
        open_call = any(closer != "}" for closer in self._scanner.open)
        return is_finished(self._line) and not (open_call or self._scanner.triple)

    def _keep_whole(self) -> None:
        """Half a statement at the end is worth nothing beside whole ones, nor is half a line beside whole lines."""
        length = len(self._stands)
        whole = max(end for end in self._wholes if end <= length)
        if not whole and length not in self._line_ends:
            whole = max((end for end in self._line_ends if end <= length), default=0)
        if whole:
            self._stands = self._stands[:whole]

    def _stop(self, reason: FinishReason) -> None:
        if reason != "loop":
            self._release(space=self._text_follows)
        self._held = []
        self.finished = reason


def ending_of(request: Complete) -> Ending | RawText:
    """The rules that hold for the suggestion that `request` asks for."""
    context, limits = request.context, request.limits
    if request.raw:
        return RawText(limits.max_lines)
    return Ending(context.before, context.after, context.language, limits.max_lines, one_statement=limits.one_statement)


def _without(closers: list[str], taken: list[str]) -> list[str]:
    """`closers`, the innermost last, less those in `taken`, of which the innermost goes first."""
    left = closers.copy()
    for closer in taken:
        for index in reversed(range(len(left))):
            if left[index] == closer:
                del left[index]
                break
    return left
