"""Where a suggestion ends. The text that stands does not depend on how it was cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.ending import Ending, RawText

CURSOR = "⟦|⟧"


def end(document, model, language="python", max_lines=12):
    before, after = document.split(CURSOR)
    ending = Ending(before, after, language, max_lines)
    ending.feed(model)
    ending.finish("end-of-text")
    return ending.text, ending.finished


@pytest.mark.parametrize(
    ("document", "model", "text", "reason"),
    [
        # the rest of a line when text follows on it
        ("x = ⟦|⟧ + y\n", "f(1)\nz\n", "f(1)", "end-of-line"),
        ("x = ⟦|⟧y\n", "a + \nz\n", "a + ", "end-of-line"),
        # closers behind the cursor
        ("print(⟦|⟧)\n", '"hello")\n', '"hello")', "end-of-line"),
        ("foo(bar(⟦|⟧))\n", "1, 2))\n", "1, 2))", "end-of-line"),
        ("foo(bar(⟦|⟧)\n", "x))\n", "x))", "end-of-line"),
        ("foo(bar(⟦|⟧))\n", "x), y))\n", "x), y)", "end-of-line"),
        ("(\n    foo(⟦|⟧)\n)\n", "x))\n", "x)", "end-of-line"),
        ("foo(bar(⟦|⟧))\n", "x),\n    y)\n", "x),", "end-of-line"),
        ("if f(⟦|⟧)\n", "x):\n    y\n\n    z\nw\n", "x):\n    y\n\n    z", "end-of-block"),
        ("a[⟦|⟧] \n", "0] = f(\n    1,\n)\nb\n", "0] = f(\n    1,\n)", "end-of-line"),
        ("foo(⟦|⟧);\n", "a(1), [2])\n", "a(1), [2]", "end-of-line"),
        ("foo(⟦|⟧)\n", '")", 1)\n', '")", 1)', "end-of-line"),
        ("foo(⟦|⟧)\n", "a,\n    b,\n    c)\n", "a,\n    b,\n    c)", "end-of-line"),
        ("foo(⟦|⟧)\n", "a,\nb = 1\n", "a,", "end-of-block"),
        ("f = {⟦|⟧}\n", "\n    1: 2,\n}\n", "\n    1: 2,\n}", "end-of-line"),
        ('name = "⟦|⟧"\n', 'alice"\n', 'alice"', "end-of-line"),
        ('name = "⟦|⟧"\n', 'a\\"b"\n', 'a\\"b"', "end-of-line"),
        ('f("⟦|⟧")\n', 'a", {\n    b: 1})\n', 'a", {', "end-of-line"),
        ('name = "⟦|⟧";\n', 'a" + b\n', "a", "end-of-line"),
        ("name = '⟦|⟧',\n", "alice\nx\n", "alice", "end-of-line"),
        # the line's own brackets
        ("foo(⟦|⟧\nz = 1\n", "1)\n", "1)", "end-of-text"),
        ("def f(⟦|⟧", "a):\n    return a\n\n\ndef g(): pass\n", "a):\n    return a", "end-of-block"),
        # dedent
        ("class A:\n    def f(self):\n        ⟦|⟧\n", "return 1\n\n    def g(self):\n", "return 1", "end-of-block"),
        ("def f():\n    ⟦|⟧\n", "x = 1\n    y = 2\nz = 3\n", "x = 1\n    y = 2", "end-of-block"),
        ("def f():\n⟦|⟧", "    x = 1\n    y = 2\nz = 3\n", "    x = 1\n    y = 2", "end-of-block"),
        ("def f():\n\t⟦|⟧", "x = 1\n    y = 2\nz = 3\n", "x = 1\n    y = 2", "end-of-block"),
        ("def f():⟦|⟧\n", "\n    x = 1\n\n\ndef g():\n", "\n    x = 1", "end-of-block"),
        ("    ⟦|⟧", "\n\nx = 1\n", "", "end-of-block"),
        # whole blocks
        (
            "def f(xs):\n    ⟦|⟧\n",
            "for x in xs:\n        if x:\n            yield x\n\ndef g():\n",
            "for x in xs:\n        if x:\n            yield x",
            "end-of-block",
        ),
        ("⟦|⟧", "def f():\n    a\n\n    b\n\n\ndef g():\n", "def f():\n    a\n\n    b", "end-of-block"),
        ("⟦|⟧", "import a\nimport b\n\nx = 1\n", "import a\nimport b", "end-of-block"),
        (
            "def f():\n    ⟦|⟧",
            '"""One.\n\n    Two (b.\n    """\n    x\n\n    y\n',
            '"""One.\n\n    Two (b.\n    """\n    x',
            "end-of-block",
        ),
        ("x = [\n    ⟦|⟧", "1,\n    2,\n]\n", "1,\n    2,", "end-of-block"),
        # loops
        ("def f():\n    ⟦|⟧\n", "x = 1\n" + "    x = 1\n" * 4, "x = 1", "loop"),
        ("def f():\n    ⟦|⟧\n", "x = 1\n    x = 1\n    x = 1", "x = 1", "loop"),
        ("def f():\n    ⟦|⟧\n", "x = 1\n    x = 1\n    y\n", "x = 1\n    x = 1\n    y", "end-of-text"),
        ("def f():\n    ⟦|⟧\n", "x = 1\n    x = 1\ny\n", "x = 1\n    x = 1", "end-of-block"),
        ("x =⟦|⟧\n", " 1\nx = 1\nx = 1\n", " 1", "loop"),
        ("x = [\n    ⟦|⟧", "a1,\n" + "".join(f"    a{i},\n" for i in range(2, 9)), "a1,\n    a2,\n    a3,", "loop"),
        ("⟦|⟧", "a = 1\nb = 2\nc = 3\nd = 4\n", "a = 1\nb = 2\nc = 3\nd = 4", "end-of-text"),
        ("⟦|⟧", "# One.\n#\n# It is a tree.\n#\n# It is a tree.\n#\n# It is a tree.\n#\n", "# One.", "loop"),
        ("⟦|⟧", "x = 1\ny = get" + "_context" * 9, "x = 1", "loop"),
        ("⟦|⟧", "y = get" + "_context" * 9, "y = get_context", "loop"),
        ("⟦|⟧", "x = r'" + "[^()]*" * 20, "x = r'[^()]*", "loop"),
        ("⟦|⟧", "# " + "-" * 500, "# " + "-" * 72, "loop"),
        (
            "x⟦|⟧",
            " = 1\n# a_size\nsize = 1\nsize_of = 2\nsize_of_of = 3\n",
            " = 1\n# a_size\nsize = 1\nsize_of = 2",
            "loop",
        ),
        ("a_b_b = 1\n⟦|⟧", "c = 2\nd_b_b = 3\n", "c = 2\nd_b_b = 3", "end-of-text"),
        ("⟦|⟧", "a_b_b = 1\nc = 2\n", "a_b_b = 1\nc = 2", "end-of-text"),
        ("⟦|⟧", "x_x2 = a_a3 = 1\ny_yes = 2\n", "x_x2 = a_a3 = 1\ny_yes = 2", "end-of-text"),
        ("⟦|⟧", "# The number of segments\nsegments: int\n" * 3, "# The number of segments\nsegments: int", "loop"),
        # blank
        ("def f():\n    ⟦|⟧\n", "   \n   \n\n", "", "end-of-text"),
        ("def f():\n    ⟦|⟧\n", "x\n" + "\n" * 9 + "    y", "x", "end-of-block"),
        ("def f():\n    ⟦|⟧\n", "x = 1   \n  \n", "x = 1", "end-of-text"),
        ("a\r\n⟦|⟧", "b\r\nc\r\n", "b\r\nc", "end-of-text"),
        ("⟦|⟧", "", "", "end-of-text"),
    ],
)
def test_python(document, model, text, reason):
    assert end(document, model) == (text, reason)


@pytest.mark.parametrize(
    ("document", "model", "text", "reason"),
    [
        ("function f() {\n  ⟦|⟧\n}\n", "return 1;\n}\n", "return 1;", "end-of-block"),
        ("function f() {\nreturn 1;\n⟦|⟧\n}\n", "g();\n}\nx\n", "g();", "end-of-block"),
        (
            "function f() {\n  ⟦|⟧\n}\n",
            "if (x) {\n    y();\n  } else {\n    z();\n  }\n}\n",
            "if (x) {\n    y();\n  } else {\n    z();\n  }",
            "end-of-block",
        ),
        ("function f() {⟦|⟧\n", "\n  return 1;\n}\n\nx\n", "\n  return 1;\n}", "end-of-block"),
        ("function f() {⟦|⟧\n}\n", "\n  return 1;\n}\n\nx\n", "\n  return 1;", "end-of-block"),
        (
            "  if (a) {⟦|⟧\n",
            "\n    b();\n  } else {\n    c();\n  }\n  d();\n",
            "\n    b();\n  } else {\n    c();\n  }",
            "end-of-block",
        ),
        ("it('x', () => {⟦|⟧})\n", "\n  a();\n})\n", "\n  a();\n})", "end-of-line"),
        ("if (⟦|⟧)\n", "x) {\n  y();\n}\nz();\n", "x) {\n  y();\n}", "end-of-line"),
        ("function f() {\n  return 1;\n⟦|⟧", "}\n\nx\n", "}", "end-of-block"),
        ("if (x) { ⟦|⟧\n", "return 1; }\n", "return 1; }", "end-of-text"),
        ('f("⟦|⟧")\n', 'a) b")\n', 'a) b")', "end-of-line"),
    ],
)
def test_braces(document, model, text, reason):
    assert end(document, model, "javascript") == (text, reason)


def test_a_tab_is_eight_columns_where_spaces_and_tabs_take_turns():
    document = "  private:\n    int\n    size()\n    {\n\tint n = 0;\n      ⟦|⟧\n"
    model = "if (n)\n\treturn n;\n      return 1;\n    }\n"
    assert end(document, model, "cpp")[0] == "if (n)\n\treturn n;\n      return 1;"


def test_a_lifetime_is_no_quote():
    model = "fn f<'a>(x: &'a str) {\n        g(x)\n    }\n}\n"
    assert end("impl X {\n    ⟦|⟧\n}\n", model, "rust")[0] == model[: -len("\n}\n")]


class TestLimits:
    def test_max_lines(self):
        assert end("⟦|⟧", "a\nb\nc\nd\n", max_lines=2) == ("a\nb", "length")

    def test_one_line_is_the_rest_of_the_line(self):
        assert end("⟦|⟧", "a\nb\n", max_lines=1) == ("a", "end-of-line")

    def test_the_reason_of_the_engine(self):
        ending = Ending("", "")
        assert ending.feed("a") == "a"
        assert ending.finish("length") == ""
        assert ending.finished == "length"

    def test_nothing_is_taken_after_the_end(self):
        ending = Ending("", "", max_lines=1)
        assert ending.feed("a\nb") == "a"
        assert ending.feed("c") == ending.finish("end-of-text") == ""
        assert (ending.text, ending.finished) == ("a", "end-of-line")

    def test_a_huge_line_costs_no_more(self):
        assert Ending("x" * 300_000, "", "python").feed("y") == "y"


@pytest.mark.parametrize(
    ("language", "document", "model", "text"),
    [
        ("python", "x = ⟦|⟧\n", "1\ny = 2\n", "1"),
        ("python", "x = ⟦|⟧\n", "f(\n    1,\n)\ny = 2\n", "f(\n    1,\n)"),
        ("python", "x = f(⟦|⟧\n", "1,\n      2)\ny = 2\n", "1,\n      2)"),
        ("python", "x = ⟦|⟧\n", "1 + \\\n    2\ny\n", "1 + \\\n    2"),
        ("python", "if ⟦|⟧\n", "x:\n    y\n", "x:\n    y"),  # a block goes on
        ("javascript", "x = ⟦|⟧\n", "1;\n  .z();\n", "1;"),
        ("javascript", "x = ⟦|⟧\n", "f()\n  .g()\n  .h()\n", "f()\n  .g()\n  .h()"),
        ("javascript", "x = ⟦|⟧\n", "f()\n\ny = 2\n", "f()"),
        ("javascript", "x = ⟦|⟧\n", "{\n  a: 1,\n};\ny = 2;\n", "{\n  a: 1,\n};"),
        ("javascript", "f(⟦|⟧)\n", "x, () => {\n  y();\n});\nz();\n", "x, () => {\n  y();\n});"),
        ("csharp", "if (⟦|⟧\n", "x)\n{\n    y();\n}\n", "x)\n{\n    y();\n}"),
        ("ruby", "if ⟦|⟧\n", "x\n  y\nend\n", "x\n  y\nend"),
    ],
)
def test_of_one_statement_the_end_is_the_end(language, document, model, text):
    before, after = document.split(CURSOR)
    ending = Ending(before, after, language, one_statement=True)
    ending.feed(model)
    ending.finish("end-of-text")
    assert ending.text == text


DOCUMENTS = st.sampled_from(
    [
        "⟦|⟧",
        "def f():\n    ⟦|⟧\n\ndef g():\n",
        "print(⟦|⟧)\n",
        'x = "⟦|⟧"\n',
        "x = ⟦|⟧ + y\n",
        "if (a) {⟦|⟧\n",
        "f({⟦|⟧})\n",
        "    x = foo[⟦|⟧\n    }\n",
        "  a\n\tb {\n\t  ⟦|⟧\n",
        "<ul>\n  ⟦|⟧\n</ul>\n",
        "run \\\n  ⟦|⟧\n",
        "- a\n- ⟦|⟧\n",
        "s = `⟦|⟧`;\n",
    ]
)
LANGUAGES = st.sampled_from(["python", "javascript", "rust", "shellscript", "html", "yaml", "markdown", "c", ""])
PIECES = ["x = 1", "x = 2", "\n", "    ", "\t", " ", "(", ")", "{", "}", "]", '"', "'", '"""', "\\", "y", "\r\n", "`"]
MORE = ["\n    x = 1", "\n    x = 12", ":\n", "# ", "é漢", "-" * 30, "</ul>", "@p\n", "a, " * 4]
MODELS = st.lists(st.sampled_from(PIECES + MORE)).map("".join)


@given(document=DOCUMENTS, model=MODELS, language=LANGUAGES, max_lines=st.integers(1, 5))
def test_of_one_statement_comes_a_head_of_what_would_come_without_it(document, model, language, max_lines):
    before, after = document.split(CURSOR)
    ending = Ending(before, after, language, max_lines, one_statement=True)
    ending.feed(model)
    ending.finish("end-of-text")
    if ending.finished in ("end-of-line", "end-of-block"):
        whole = end(document, model, language, max_lines)
        assert whole[0].startswith(ending.text) or whole[1] in ("loop", "length")


@given(document=DOCUMENTS, model=MODELS, language=LANGUAGES, max_lines=st.integers(1, 5), data=st.data())
def test_any_pieces_give_the_same_and_only_a_loop_or_a_limit_takes_back(document, model, language, max_lines, data):
    whole = end(document, model, language, max_lines)
    before, after = document.split(CURSOR)
    ending = Ending(before, after, language, max_lines)
    given_out, rest = "", model
    while rest and not ending.finished:
        cut = data.draw(st.integers(1, len(rest)))
        given_out += ending.feed(rest[:cut])
        assert ending.finished or ending.text == given_out
        rest = rest[cut:]
    given_out += ending.finish("end-of-text")
    assert (ending.text, ending.finished) == whole
    assert given_out.startswith(ending.text)
    assert ending.text == given_out or ending.finished in ("loop", "length")
    assert model.startswith(given_out)


@given(document=DOCUMENTS, model=MODELS, language=LANGUAGES)
def test_what_the_limit_of_tokens_leaves_is_the_head_of_what_would_stand_without_it(document, model, language):
    before, after = document.split(CURSOR)
    cut, whole = Ending(before, after, language), Ending(before, after, language)
    for ending, reason in ((cut, "length"), (whole, "end-of-text")):
        ending.feed(model)
        ending.finish(reason)
    assert whole.text.startswith(cut.text)
    assert bool(cut.text) == bool(whole.text)


@given(document=DOCUMENTS, model=MODELS, more=MODELS)
def test_what_comes_after_the_end_changes_nothing(document, model, more):
    before, after = document.split(CURSOR)
    ending = Ending(before, after)
    ending.feed(model)
    if ending.finished:
        assert end(document, model + more) == (ending.text, ending.finished)


class TestWhatIsTakenBackAtTheEnd:
    def test_a_phrase_that_goes_round_keeps_its_first_copy(self):
        ending = Ending("def f(text):\n    return text", "\n", "python")
        ending.feed('.replace(" ", "")' * 9)
        assert (ending.finished, ending.text) == ("loop", '.replace(" ", "")')

    def test_two_lines_in_turn(self):
        ending = Ending("def f(w):\n    ", "\n", "python")
        ending.feed("w = max(w, 1)\n    w = min(w, 1)\n    " * 9)
        assert ending.finished == "loop"
        assert ending.text.startswith("w = max(w, 1)\n    w = min(w, 1)")
        assert ending.text.count("max") <= 2

    def test_the_limit_of_tokens_leaves_whole_lines(self):
        ending = Ending("def f(w):\n    ", "\n", "python")
        ending.feed("w = max(w, 1)\n    return w + oth")
        ending.finish("length")
        assert ending.text == "w = max(w, 1)"

    @pytest.mark.parametrize(
        ("language", "model", "kept"),
        [
            ("python", "x = 1\n    if x:\n        retu", "x = 1"),
            ("python", "if x:\n        y = 1\n        z = f(1,\n            ", "if x:\n        y = 1"),
            ("python", "x = 1\n    y = f(\n        1,\n        2", "x = 1"),
            ("python", "x = 1\n    @cached\n    def", "x = 1"),
            ("python", "x = 1\n    y = x + \\\n        ", "x = 1"),
            ("python", 'x = 1\n    """Some\n    text', "x = 1"),
            ("python", "x = 1\n    y = 2\n    ", "x = 1\n    y = 2"),
            ("python", "y = f(\n        1,\n        2", "y = f(\n        1,"),
            ("javascript", "a();\n    if (b) {\n      c();\n      d(", "a();\n    if (b) {\n      c();"),
            ("javascript", "a();\n    if (b) {\n      c", "a();"),
            ("c", "a();\n    //\n    // b", "a();"),
            ("shellscript", "run \\\n      -a \\\n      -b", "run \\\n      -a \\"),
            ("css", "color: red;\n    @include x;\n    mar", "color: red;\n    @include x;"),
        ],
    )
    def test_the_limit_of_tokens_leaves_whole_statements_where_there_are_any(self, language, model, kept):
        ending = Ending("begin {\n    ", "\n", language)
        ending.feed(model)
        ending.finish("length")
        assert ending.text == kept

    def test_so_does_the_limit_of_lines(self):
        assert end("⟦|⟧", "x = 1\nif x:\n    y\n", max_lines=2) == ("x = 1", "length")
        assert end("⟦|⟧", "x = 1\ny = f(\n    1,\n    2)\n", max_lines=3) == ("x = 1", "length")
        assert end("⟦|⟧", "x = 1\nx = 1\ny\n", max_lines=2) == ("x = 1\nx = 1", "length")
        assert end("⟦|⟧", "if x:\n    y\n", max_lines=1) == ("if x:", "end-of-line")

    def test_a_single_line_stays_as_far_as_it_came(self):
        ending = Ending("def f(w):\n    ", "\n", "python")
        ending.feed("return w + oth")
        ending.finish("length")
        assert ending.text == "return w + oth"


@pytest.mark.parametrize("pieces", [["a\nb\nc"], ["a", "\n", "b", "\nc"], list("a\nb\nc\n")])
def test_raw_text_stands_as_it_is_up_to_its_limit_of_lines(pieces):
    raw, whole = RawText(2), RawText()
    assert "".join(map(raw.feed, pieces)) == raw.text == "a\nb"
    assert (raw.finished, raw.finish("length"), raw.finished) == ("end-of-line", "", "end-of-line")
    assert "".join(map(whole.feed, pieces)) == "".join(pieces)
    assert whole.finished is None
