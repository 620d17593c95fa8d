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
from completion_server.ending.closers import Closers
from completion_server.ending.raw_text import RawText
from completion_server.ending.repetition import loop_end, same_but_for_numbers, stutter
from completion_server.ending.standing import Standing
from completion_server.ending.statements import ends_at_line_end, indent_of, is_finished, opens_block, tab_width
from completion_server.protocol import Complete, FinishReason

_REACH = 2_000  # code points of the cursor's line that are looked at
_MAX_BLANK_LINES = 3
_EQUAL_LINES = 3
_COUNTING_LINES = 4


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
        self._language = language
        self._text_follows = bool(rest.strip(" \t\r)]}>\"'`,;:"))
        self._closers_behind = bool(rest.strip()) and not self._text_follows
        self._max_lines = 1 if self._text_follows else max_lines

        self._scanner = BracketScanner(language)
        for char in line:
            self._scanner.take(char)
        self._closers = Closers(self._scanner, "" if self._text_follows else rest.strip(), below.lstrip())
        self._scanner.open = []  # from here on: brackets that the suggestion opened

        self._text = Standing()
        self._written = ""  # all of it
        self._line = line  # the line being written, from its first column on
        self._lines = 1
        self._blank_lines = 0  # since the last line with text
        self._tab = tab_width(self._before)
        self._floor = indent_of(line, self._tab)
        self._base = self._floor if line.strip() else None  # indentation of the first line with text
        self._last_line: str | None = None  # with text, ended
        self._repeats = 1  # lines in a row that equal the last one, itself included
        self._counting = [0]  # where lines end in the text that differ from the next only in their numbers
        self._ends_with_line = False
        self._one_statement = one_statement
        self._may_end = False  # with the line above, if the one that is being written is no part of its statement

    @property
    def text(self) -> str:
        """What stands so far. It only grows, but for the end: a loop, or half a statement at the limit, goes."""
        return self._text.since(0)

    def feed(self, text: str) -> str:
        """Take more text; returns what stands since the last call."""
        begin = len(self._text)
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
        return self._text.since(begin)

    def finish(self, reason: FinishReason) -> str:
        """No more text comes, for `reason`; returns what stands since the last call."""
        begin = len(self._text)
        if not self.finished:
            looped = self._equals_last_line() and self._repeats + 1 >= _EQUAL_LINES
            self._stop("loop" if looped else reason)
            if reason == "length" and self._last_line is not None:
                self._text.keep_whole()
        return self._text.since(begin)

    # -- characters ----------------------------------------------------------------------------------------------------

    def _add(self, char: str) -> None:
        """A character that is no white space."""
        if not self._line.strip() and self._leaves_block(char):
            self._stop("end-of-block")
        elif self._is_outer_closer(char) and not self._may_close(char) and not self._closers.goes_beyond(char):
            self._stop("end-of-line" if self._lines == 1 else "end-of-block")
        elif self._closers.closes_quote(char, self._scanner) and self._closers.ends_at_quote():
            self._stop("end-of-line")
        else:
            self._take(char)
            if self._last_line is None or not self._last_line.startswith(self._line):
                self._text.release()

    def _take(self, char: str) -> None:
        self._line += char
        self._text.hold(char)
        self._scanner.take(char)
        self._closers.take_quote(self._scanner)

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
        return self._closers_behind or (self._blank_lines > 0 and len(self._text) > 0)

    def _may_close(self, closer: str) -> bool:
        """Whether a closer of a bracket that the suggestion did not open belongs to it."""
        if self._closers.beyond:
            return False
        leads = not self._line.strip()
        if self._closers.needs(closer):
            if leads and (self._closers.stands_below(closer) or indent_of(self._line, self._tab) != self._base):
                return False
            self._closers.write_needed()
            self._ends_with_line = leads and not self._closers.any_needed
            return True
        if self._closers.stands_behind(closer):
            if leads:
                self._text.release()  # the closer behind the cursor moves to a line of its own
            return False
        if leads and (len(self._text) or self._closers.stands_below(closer)):
            return False
        self._ends_with_line = self._ends_with_line or leads
        return True

    # -- lines ---------------------------------------------------------------------------------------------------------

    def _end_line(self) -> None:
        if not self._line.strip():
            self._blank_lines += 1
        else:
            self._end_text_line()
        said_twice = stutter(self._line)
        line_before = self._text.end_of_line_before
        if said_twice and line_before is not None and said_twice not in self._before:
            self._cut(line_before)
        elif len(self._counting) >= _COUNTING_LINES:
            self._cut(self._counting[-2])
        elif self._repeats >= _EQUAL_LINES:
            self._stop("loop")
        elif self._max_lines == 1 or self._closers.ends_with_line(self._line, self._scanner) or self._ends_statement():
            self._stop("end-of-line")
        elif self._blank_lines > _MAX_BLANK_LINES or (self._ends_with_line and not self._scanner.open):
            self._stop("end-of-block")
        elif self._lines == self._max_lines:
            self._stop("length")
            self._text.keep_whole()
        else:
            self._lines += 1
            self._line = ""
            self._text.hold("\n")
            self._scanner.end_line()

    def _end_text_line(self) -> None:
        if self._equals_last_line():
            self._repeats += 1
        else:
            counts_on = self._last_line is not None and same_but_for_numbers(self._line.rstrip(), self._last_line)
            self._repeats = 1
            self._last_line = self._line.rstrip()
            self._text.release(space=False)
            self._counting = [*(self._counting if counts_on else ()), len(self._text)]
        self._blank_lines = 0
        open_call = any(closer != "}" for closer in self._scanner.open)
        self._text.end_line(whole=is_finished(self._line) and not (open_call or self._scanner.triple))

    def _equals_last_line(self) -> bool:
        return bool(self._line.strip()) and self._line.rstrip() == self._last_line

    def _ends_statement(self) -> bool:
        """Whether the line that ends is the last of the only statement; `_may_end` where the next one will tell."""
        if not self._one_statement or not self._line.strip():
            return False
        if self._scanner.open or self._scanner.triple or self._closers.any_left:
            return False
        if opens_block(self._line):
            self._one_statement = False
        elif is_finished(self._line):
            self._may_end = not ends_at_line_end(self._line, self._language)
            return not self._may_end
        return False

    # -- the end -------------------------------------------------------------------------------------------------------

    def _cut(self, end: int) -> None:
        """Stop, and take back what stands behind `end`."""
        self._stop("loop")
        self._text.cut(end)

    def _stop(self, reason: FinishReason) -> None:
        if reason != "loop":
            self._text.release(space=self._text_follows)
        self._text.drop()
        self.finished = reason


def ending_of(request: Complete) -> Ending | RawText:
    """The rules that hold for the suggestion that `request` asks for."""
    context, limits = request.context, request.limits
    if request.raw:
        return RawText(limits.max_lines)
    return Ending(context.before, context.after, context.language, limits.max_lines, one_statement=limits.one_statement)
