"""Cuts a suggestion down to what the text around the cursor does not say already.

The engine ends a suggestion by what the model wrote (blocks, loops, limits, control tokens), `syntax` by the grammar;
this module by the live text: closers and quotes that the editor inserted, lines that stand below, white space. Pure;
line ends are `\\n` throughout; knows nothing of positions, versions or LSP.
"""

import re
from dataclasses import dataclass

from lsp.beyond import beyond
from lsp.brackets import (
    CLOSERS,
    ONE_LINE_QUOTES,
    cut_at_quote,
    cut_at_surplus_closer,
    only_closers,
    open_brackets,
    open_quote,
)
from lsp.noise import is_noise
from lsp.repeats import without_lines_below

_COLUMNS = 1_000  # of the line in front of the cursor, which may be a whole minified file
_LINES_ABOVE = 3
_LINES_BELOW = 40  # how far down a repeated block is looked for


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The cursor's line in front of the cursor, its rest, and lines above and below it, none with a line end.

    `may_begin_below`: the client takes an item that adds nothing to a finished line but begins on the next one.
    """

    before: str
    rest: str
    below: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    language: str = ""
    may_begin_below: bool = False

    @classmethod
    def of(cls, before: str, after: str, language: str = "", *, may_begin_below: bool = False) -> "Surroundings":
        """From the text in front of the cursor and the text behind it."""
        rest, *below = after.split("\n")
        *above, line = before[-_REACH:].rsplit("\n", _LINES_ABOVE)
        return cls(
            line[-_COLUMNS:],
            rest,
            tuple(below[:_LINES_BELOW]),
            tuple(above[-_LINES_ABOVE:]),
            language,
            may_begin_below,
        )


@dataclass(frozen=True, slots=True)
class Trimmed:
    """`text` goes in at the cursor, in the place of the first `replace` code points behind it on its line.

    `replace` is 0 but where the rest of the line moves to the end of a suggestion of several lines, which then ends
    with it: an editor draws ghost lines below the cursor's line and would leave the rest in front of them. And where
    the suggestion goes on behind closers: it then has them in it, in order. Empty `text`: nothing may be shown.
    """

    text: str
    replace: int = 0


def trim(text: str, around: Surroundings) -> Trimmed:
    """What of `text` may be inserted at the cursor.

    Idempotent: a cut can bare another repetition, so passes go on until one changes nothing.
    """
    rest = around.rest
    said = text
    while (shorter := _pass(text, around)) != text:
        text = shorter
    if more := _beyond(said, text, around):
        return Trimmed(more, len(rest.rstrip()))
    if "\n" in text and _is_closers(rest, around) and not _opens_a_line_above(around):
        return Trimmed(text + rest, len(rest))
    return Trimmed(text)


def _beyond(said: str, text: str, around: Surroundings) -> str:
    """What of `said` goes on behind the rest of the line, without the lines that stand below already."""
    if is_noise(said, around.before, around.above) or around.language in _MARKUP:
        return ""
    more = beyond(said, text, around.rest)
    return without_lines_below(more, around.before, around.rest, around.below).rstrip() if more else ""


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
    if is_noise(text, around.before, around.above):
        return ""
    if _opens_a_line_above(around):
        return _above(text, around)
    text = _within_line(text, around) if around.rest.strip() else text
    text = without_lines_below(text, around.before, around.rest, around.below)
    text = _without_trailing_space(text, around)
    return "" if _says_nothing(text, around) else text


def _opens_a_line_above(around: Surroundings) -> bool:
    return not around.before.strip() and bool(around.rest.strip()) and not _is_closers(around.rest, around)


def _above(text: str, around: Surroundings) -> str:
    """At the start of a line with code, only whole new lines make sense: the old line must stay on its own."""
    own = around.before + around.rest
    if _starts_with_rest(text, around.rest):
        return ""
    kept = without_lines_below(text, around.before, "", (own, *around.below)).rstrip()
    return f"{kept}\n{around.before}" if kept else ""


def _within_line(text: str, around: Surroundings) -> str:
    if _starts_with_rest(text, around.rest):
        return ""
    if not _is_closers(around.rest, around):  # code follows: what goes on for lines is not meant for in front of it
        text = text.partition("\n")[0]
    if not only_closers(around.rest):
        text = _up_to_rest(text, around.rest)
    quote = open_quote(around.before, around.language)
    if quote and quote in around.rest:
        inner = around.before.rpartition(quote)[2]  # a hole of a template may be open in it
        text = cut_at_surplus_closer(cut_at_quote(text, quote), inner, around.rest.partition(quote)[0])
        return text.partition("\n")[0] if quote in ONE_LINE_QUOTES else text
    text = cut_at_surplus_closer(text, around.before, around.rest)
    head, newline, last = text.rpartition("\n")
    return head + newline + _without_overlap(last, around.rest)


def _starts_with_rest(text: str, rest: str) -> bool:
    return bool(rest.strip()) and text.partition("\n")[0].strip().startswith(rest.strip())


def _up_to_rest(text: str, rest: str) -> str:
    """`text` up to where its first line says all of `rest`, outside of brackets of its own."""
    line, rest = text.partition("\n")[0], rest.strip()
    at = line.find(rest) if len(rest) >= _TELLING else -1
    while at > 0:
        if not open_brackets(line[:at]) and not (_is_word(line[at - 1]) and _is_word(rest[0])):
            return line[:at]
        at = line.find(rest, at + 1)
    return text


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


def _without_trailing_space(text: str, around: Surroundings) -> str:
    body = text.rstrip()
    if not body:
        return ""
    space, rest = text[len(body) :], around.rest
    if _is_word(rest[:1]) and "\n" not in space:
        return text  # it parts two words
    if _is_closers(rest, around) and body.startswith("\n"):  # a block opened on a line of its own closes on one
        if "\n" in space:
            return body + "\n" + space.rpartition("\n")[2]
        if body.endswith(","):
            return body + "\n" + around.before[: len(around.before) - len(around.before.lstrip())]
    return body


def _says_nothing(text: str, around: Surroundings) -> bool:
    """Empty, or a first line equal to the text behind the cursor (Neovim 0.12 never gets past such an item)."""
    if not text.strip():
        return True
    if text.partition("\n")[0].strip() != around.rest.strip():
        return False
    return not around.may_begin_below or bool(around.rest.strip())


def _is_closers(line: str, around: Surroundings) -> bool:
    if around.language in _MARKUP:
        line = _END_TAG.sub(">", line)
    return only_closers(line)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


_REACH = 4_000  # code points in front of the cursor that are looked at
_TELLING = 3  # code points of a rest of line that are no chance
_MARKUP = frozenset(["html", "javascriptreact", "typescriptreact", "xml", "vue", "svelte", "php"])
_END_TAG = re.compile(r"</[\w.:-]*>")
