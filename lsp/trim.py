"""Cuts a suggestion down to what the text around the cursor does not say already.

The engine ends a suggestion by what the model wrote (blocks, loops, limits, control tokens); this module by the live
text: closers and quotes that the editor inserted, lines that stand below, white space. Pure; line ends are `\\n`
throughout; knows nothing of positions, versions or LSP.
"""

from dataclasses import dataclass

from lsp.brackets import CLOSERS, ONE_LINE_QUOTES, cut_at_quote, cut_at_surplus_closer, open_quote, unmatched_closers

_COLUMNS = 1_000  # of the line in front of the cursor, which may be a whole minified file
_LINES_BELOW = 40  # how far down a repeated block is looked for
_BLOCK = 3  # equal lines in a row that make a repeated block


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The cursor's line in front of the cursor, its rest, and the lines below it, none with a line end.

    `may_begin_below`: the client takes an item that adds nothing to a finished line but begins on the next one.
    """

    before: str
    rest: str
    below: tuple[str, ...] = ()
    may_begin_below: bool = False

    @classmethod
    def of(cls, before: str, after: str, *, may_begin_below: bool = False) -> "Surroundings":
        """From the text in front of the cursor and the text behind it."""
        rest, *below = after.split("\n")
        return cls(before.rpartition("\n")[2][-_COLUMNS:], rest, tuple(below[:_LINES_BELOW]), may_begin_below)


def trim(text: str, around: Surroundings) -> str:
    """What of `text` may be inserted at the cursor; empty where nothing may be shown.

    Idempotent: a cut can bare another repetition, so passes go on until one changes nothing.
    """
    while (shorter := _pass(text, around)) != text:
        text = shorter
    return text


def on_this_line(text: str, around: Surroundings) -> str:
    """`text` without blank lines at its head where the cursor's own line is blank: there it begins on that line.

    Its first line must be indented at least as far as the cursor stands; else `text` stays as it is.
    """
    if around.before.strip() or around.rest.strip():
        return text
    lines = text.split("\n")
    while len(lines) > 1 and not lines[0].strip():
        del lines[0]
    if len(lines) == text.count("\n") + 1 or not lines[0].startswith(around.before):
        return text
    return "\n".join([lines[0][len(around.before) :], *lines[1:]])


def _pass(text: str, around: Surroundings) -> str:
    if _opens_a_line_above(around):
        return _above(text, around)
    text = _within_line(text, around) if around.rest.strip() else text
    text = _without_lines_below(text, around)
    text = _without_trailing_space(text, around.rest)
    return "" if _says_nothing(text, around) else text


def _opens_a_line_above(around: Surroundings) -> bool:
    return not around.before.strip() and bool(around.rest.strip()) and not _is_closers(around.rest)


def _above(text: str, around: Surroundings) -> str:
    """At the start of a line with code, only whole new lines make sense: the old line must stay on its own."""
    own = around.before + around.rest
    if _starts_with_rest(text, around.rest):
        return ""
    kept = _without_lines_below(text, Surroundings(around.before, "", (own, *around.below))).rstrip()
    return f"{kept}\n{around.before}" if kept else ""


def _within_line(text: str, around: Surroundings) -> str:
    if _starts_with_rest(text, around.rest):
        return ""
    if not _is_closers(around.rest):  # code follows: what goes on for lines is not meant for in front of it
        text = text.partition("\n")[0]
    quote = open_quote(around.before)
    if quote and quote in around.rest:
        text = cut_at_quote(text, quote)
        return text.partition("\n")[0] if quote in ONE_LINE_QUOTES else text
    text = cut_at_surplus_closer(text, around.before, around.rest)
    head, newline, last = text.rpartition("\n")
    return head + newline + _without_overlap(last, around.rest)


def _starts_with_rest(text: str, rest: str) -> bool:
    return bool(rest.strip()) and text.partition("\n")[0].strip().startswith(rest.strip())


def _without_overlap(line: str, rest: str) -> str:
    """`line` without the end that the text behind the cursor begins with; never cuts through a word.

    An overlap that begins with a closer is none: which brackets are closed twice was settled before.
    """
    rest, body = rest.rstrip(), line.rstrip()
    for length in range(min(len(body), len(rest)), 0, -1):
        overlap, before, after = rest[:length], body[: len(body) - length][-1:], rest[length : length + 1]
        if not body.endswith(overlap) or not overlap.strip() or overlap.lstrip()[0] in CLOSERS:
            continue
        if not (_is_word(before) and _is_word(overlap[0])) and not (_is_word(overlap[-1]) and _is_word(after)):
            return body[: len(body) - length]
    return line


def _without_lines_below(text: str, around: Surroundings) -> str:
    below = [line.rstrip() for line in around.below if line.strip()]
    lines = text.split("\n")
    first = 1 if around.rest.strip() else 0
    for number in range(first, len(lines) if below else 0):
        if lines[number].strip() and _repeats(lines, number, around.before, below):
            return "\n".join(lines[:number])
    return text


def _repeats(lines: list[str], number: int, before: str, below: list[str]) -> bool:
    """Whether line `number` of the suggestion begins to say what stands below the cursor."""
    line = (lines[number] if number else before + lines[number]).rstrip()
    if _is_closers(line):
        same = line == below[0] or (number == 0 and line.strip() == below[0].strip())
        return same and not _closes_own(lines, number)
    if line == below[0]:
        return True
    tail = [item.rstrip() for item in lines[number:] if item.strip()][:_BLOCK]
    tail[0] = line
    return len(tail) == _BLOCK and any(below[at : at + _BLOCK] == tail for at in range(1, len(below)))


def _closes_own(lines: list[str], number: int) -> bool:
    """Whether all brackets that line `number` closes were opened in the suggestion itself."""
    if CLOSERS.isdisjoint(lines[number]):
        return False
    start = sum(len(line) + 1 for line in lines[:number])
    return all(at < start for at in unmatched_closers("\n".join(lines[: number + 1])))


def _without_trailing_space(text: str, rest: str) -> str:
    body = text.rstrip()
    if not body:
        return ""
    space = text[len(body) :]
    if _is_word(rest[:1]) and "\n" not in space:
        return text  # it parts two words
    if rest.strip() and _is_closers(rest) and body.startswith("\n") and "\n" in space:
        return body + "\n" + space.rpartition("\n")[2]  # a block opened on a line of its own closes on one
    return body


def _says_nothing(text: str, around: Surroundings) -> bool:
    """Empty, or a first line equal to the text behind the cursor (Neovim 0.12 never gets past such an item)."""
    if not text.strip():
        return True
    if text.partition("\n")[0].strip() != around.rest.strip():
        return False
    return not around.may_begin_below or bool(around.rest.strip())


def _is_closers(line: str) -> bool:
    return bool(line.strip()) and all(char in CLOSERS or char in "\"'`;,: \t" for char in line)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
