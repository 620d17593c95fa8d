"""The modules that know no buffer: lengths, what is left of a suggestion, its words and lines, the pace."""

import pytest


@pytest.mark.parametrize(
    ("text", "utf16", "utf32"), [("", 0, 0), ("abc", 3, 3), ("é", 1, 1), ("名前", 2, 2), ("🙂", 2, 1), ("a🙂é", 4, 3)]
)
def test_lengths(editor, text, utf16, utf32):
    code = "return require('foretype.text').length(...)"
    assert [editor.lua(code, text, encoding) for encoding in ("utf-16", "utf-32")] == [utf16, utf32]
    assert len(text.encode("utf-16-le")) == 2 * utf16


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_there_and_back(editor, encoding):
    line = "a🙂é名b"
    code = """
      local t, line, column, encoding = require('foretype.text'), ...
      return t.byte_column(line, t.length(line:sub(1, column), encoding), encoding)
    """
    for end in range(len(line) + 1):
        column = len(line[:end].encode())
        assert editor.lua(code, line, column, encoding) == column


@pytest.mark.parametrize(
    ("typed", "behind", "rest", "replaced"),
    [
        ("", "", "foo(a)", ""),
        ("fo", "", "o(a)", ""),
        ("foo(", ")", "a)", ")"),  # closed by a plugin
        ("foo(a)", "", "", ""),
        ("fx", "", None, None),
        ("", " + 1", None, None),
        ("foo(", "]", None, None),
        ("foo(", ")))", None, None),
    ],
)
def test_what_is_left(editor, typed, behind, rest, replaced):
    code = """
      local suggestion = { text = 'foo(a)', head = 'x = ', tail = '', replaced = '' }
      local rest, replaced = require('foretype.suggestion').rest(suggestion, 'x = ', ...)
      return { rest or vim.NIL, replaced or vim.NIL }
    """
    assert editor.lua(code, typed, behind) == [rest, replaced]


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("foo(bar)", ["foo", "(", "bar", ")"]),
        (" = a  +b\n    c", [" =", " a", "  +", "b", "\n    c"]),
        ("名前 = é", ["名前", " =", " é"]),
        ("  \n", ["  \n"]),
    ],
)
def test_words_add_up(editor, rest, words):
    editor.open("")
    code = """
      local suggestion, rest, words = require('foretype.suggestion'), ..., {}
      while rest ~= '' do
        local word = suggestion.next_word(rest)
        words[#words + 1], rest = word, rest:sub(#word + 1)
      end
      return words
    """
    assert editor.lua(code, rest) == words


def test_lines(editor):
    code = "local s, rest = require('foretype.suggestion'), ...; return s.next_line(rest)"
    assert [editor.lua(code, rest) for rest in ("a\nb", "\n  b\nc", "\n\n  b", "x")] == ["a", "\n  b", "\n\n  b", "x"]


def test_patience_follows_the_engine_and_the_person(editor):
    code = """
      local pace = require('foretype.pace').new()
      local found = { pace:patience() }
      for _ = 1, 40 do pace:answered(400, false) end
      found[2] = math.floor(pace:patience() + 0.5)
      for now = 0, 40000, 900 do pace:key(now) end
      found[3] = pace:patience()
      for now = 50000, 54000, 100 do pace:key(now) end
      for _ = 1, 40 do pace:answered(5000, false) end
      found[4] = math.floor(pace:patience() + 0.5)
      pace:answered(1, true)
      found[5] = math.floor(pace:patience() + 0.5)
      return found
    """
    assert editor.lua(code) == [0, 600, 0, 1000, 1000]


def test_a_request_that_was_given_up_says_how_slow_the_engine_is_at_least(editor):
    code = """
      local pace = require('foretype.pace').new()
      pace:superseded(250)
      pace:superseded(10)
      return { pace.latency, pace:patience() }
    """
    assert editor.lua(code) == [250, 375]
