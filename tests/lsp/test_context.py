"""What is sent: bounded, with one kind of line end, and encodable."""

from completion_server.protocol import MAX_AFTER, MAX_BEFORE, Snippet
from lsp.context import Around, build_context, plain
from lsp.document import Document
from lsp.text import Position
from lsp.window import Window


def context_at(source: str, cursor: Position) -> tuple[str, str]:
    document = Document("d7", "file:///p/a.py", source, version=3, language="python")
    context = build_context(document, Window(document.text), cursor, "a.py")
    assert (context.document, context.version, context.language, context.path) == ("d7", 3, "python", "a.py")
    return context.before, context.after


def test_all_line_ends_are_sent_as_one() -> None:
    assert context_at("a\r\nb\rc\nd\r\n", Position(2, 0)) == ("a\nb\n", "c\nd\n")


def test_lone_surrogates_are_replaced() -> None:
    assert plain("a\ud800b") == "a\ufffdb"
    assert plain("😀") == "😀"


def test_long_files_are_bounded_and_cut_at_line_ends() -> None:
    source = "0123456789\n" * 50_000
    before, after = context_at(source, Position(40_000, 5))
    assert MAX_BEFORE // 2 < len(before) <= MAX_BEFORE
    assert MAX_AFTER - 11 < len(after) <= MAX_AFTER
    assert before.startswith("0123456789\n")
    assert before.endswith("\n01234")
    assert after.endswith(("\n0123456789", "\n"))


def test_one_line_of_300_kilobytes() -> None:
    before, after = context_at("x" * 300_000, Position(0, 150_000))
    assert MAX_BEFORE // 2 < len(before) <= MAX_BEFORE
    assert len(after) == MAX_AFTER


def test_the_end_of_the_file() -> None:
    assert context_at("", Position(0, 0)) == ("", "")
    assert context_at("ab\n", Position(1, 0)) == ("ab\n", "")


def context_in(around: Around, source: str, cursor: Position) -> tuple[str, str]:
    document = Document("d7", "file:///p/a.py", source)
    context = build_context(document, Window(document.text), cursor, "a.py", around)
    assert context.snippets == around.snippets
    return context.before, context.after


def test_what_belongs_to_a_document_stands_around_it() -> None:
    around = Around("above\n\n", "\n\nbelow", (Snippet("b.py", "x"),))
    assert context_in(around, "a\r\nb", Position(1, 0)) == ("above\n\na\n", "b\n\nbelow")


def test_but_not_where_there_is_no_room_or_something_between() -> None:
    above, below = Around(above="x" * 90_000), Around(below="y" * 16_000)
    assert context_in(above, "0123456789\n" * 1_000, Position(1_000, 0))[0].startswith("0123")
    assert context_in(above, "0123456789\n" * 20_000, Position(20_000, 0))[0].startswith("0123")
    after = context_in(below, "0123456789\n" * 100, Position(0, 0))[1]
    assert (len(after), after[-1]) == (MAX_AFTER, "y")
    assert "y" not in context_in(below, "0123456789\n" * 20_000, Position(0, 0))[1]


def test_names_that_are_too_long_or_not_encodable_are_cut() -> None:
    document = Document("d7", "file:///p/a.py", "", version=2**70, language="p\ud800" * 200)
    context = build_context(document, Window(document.text), Position(0, 0), "x" * 3_000 + "\ud800.py")
    assert context.version == 2**53 - 1
    assert context.language == "p\ufffd" * 128
    assert (len(context.path), context.path[-5:]) == (2_048, "x\ufffd.py")
    document.version = -(2**70)
    assert build_context(document, Window(document.text), Position(0, 0), "a.py").version == 1 - 2**53
