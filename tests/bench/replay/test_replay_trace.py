"""Traces: written and read they are the same, and whatever is wrong with one is said in a line with its number."""

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.replay import trace_file
from bench.replay.actions import Accept, Close, Delete, Insert, Move, Open, Switch
from bench.replay.trace_file import check_place, read_trace, write_trace
from completion_server.errors import SettingsError
from lsp.text import Position, Text

HEADER = '{"foretype_trace": 1}'
OPEN = '{"time": 0, "action": "open", "document": "a.py", "text": "x\\ny", "line": 1, "column": 1, "version": 1}'

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def traces(draw):
    """Actions that can be done: each in a document as the ones before left it."""
    documents, cursors, current, at, actions = {}, {}, None, 0, []
    for _ in range(draw(st.integers(1, 12))):
        at += draw(st.integers(0, 2_000_000))
        time = at / 1e6
        kinds = ["open", *(["switch", "close"] if documents else []), *(["edit"] * 4 if current in documents else [])]
        match draw(st.sampled_from(kinds)):
            case "open":
                current = f"d/{len(actions)}.py"
                text = documents[current] = Text(draw(_texts))
                line, column = cursors[current] = draw(places(text))
                actions.append(Open(time, current, str(text), line, column))
            case "switch":
                current = draw(st.sampled_from(sorted(documents)))
                actions.append(Switch(time, current))
            case "close":
                name = draw(st.sampled_from(sorted(documents)))
                del documents[name]
                actions.append(Close(time, name))
            case "edit":
                text, cursor = documents[current], cursors[current]
                action = draw(edits(time, text, cursor))
                if isinstance(action, Move):
                    cursors[current] = Position(action.line, action.column)
                else:
                    start = text.back(cursor, action.count) if isinstance(action, Delete) else cursor
                    cursors[current] = text.replace(start, cursor, getattr(action, "text", "")).new_end
                actions.append(action)
    return actions


def places(text):
    lines = st.integers(0, text.line_count - 1)
    return lines.flatmap(lambda line: st.builds(Position, st.just(line), st.integers(0, len(text.line(line)))))


def edits(time, text, cursor):
    some = _texts.filter(bool)
    kinds = [
        places(text).map(lambda place: Move(time, *place)),
        st.builds(Insert, st.just(time), some, st.booleans()),
        st.builds(Accept, st.just(time), some),
    ]
    if cursor.column:
        kinds.append(st.builds(Delete, st.just(time), st.integers(1, cursor.column), st.booleans()))
    return st.one_of(kinds)


@given(actions=traces())
def test_a_trace_is_read_as_it_was_written(tmp_path_factory, actions):
    path = tmp_path_factory.mktemp("traces") / "trace.jsonl"
    write_trace(path, actions)
    assert read_trace(path) == actions


def test_a_trace_has_text_and_is_its_owners_alone(tmp_path):
    (tmp_path / "t").touch(0o644)
    write_trace(tmp_path / "t", [Open(0.0, "a.py", "ä", 0, 0)])
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o600
    assert "ä" in (tmp_path / "t").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{}"], 'line 1: a trace begins with {"foretype_trace": 1}'),
        (['{"foretype_trace": 2}'], "line 1: a trace begins with"),
        ([HEADER], "nothing is done"),
        ([HEADER, "nonsense"], "line 2: not a JSON object"),
        ([HEADER, "[" * 100_000], "line 2: not a JSON object"),
        ([HEADER, "7"], "line 2: not a JSON object"),
        ([HEADER, OPEN.replace('"time": 0', '"time": NaN')], "line 2: not a JSON object"),
        ([HEADER, OPEN.replace('"time": 0', '"time": 1e999')], 'line 2: "time" must be from 0 to 86400 seconds'),
        ([HEADER, OPEN.replace('"time": 0', f'"time": {"9" * 400}')], 'line 2: "time" must be from 0 to 86400 seconds'),
        ([HEADER, OPEN.replace('"time": 0', '"time": -1')], 'line 2: "time" must be from 0 to 86400 seconds'),
        ([HEADER, OPEN.replace('"time": 0', '"time": true')], 'line 2: "time" must be a number'),
        ([HEADER, OPEN.replace("open", "look")], 'line 2: "action" must be one of open, switch, close, move, insert'),
        ([HEADER, OPEN.replace('"open"', "[1]")], 'line 2: "action" must be one of'),
        ([HEADER, OPEN.replace('"line": 1, ', "")], 'line 2: "open" lacks line'),
        (
            [HEADER, OPEN.replace("version", "verison")],
            'line 2: a field that "open" does not know; it has time, action',
        ),
        ([HEADER, OPEN.replace('"version": 1', '"version": 2')], 'line 2: "version" must be 1: 1 when opened'),
        ([HEADER, OPEN.replace("a.py", "../a.py")], 'line 2: "document" must be a relative path'),
        ([HEADER, OPEN.replace("a.py", "/a.py")], 'line 2: "document" must be a relative path'),
        ([HEADER, OPEN.replace('"line": 1', '"line": 2')], "line 2: the cursor would be outside"),
        ([HEADER, OPEN.replace('"column": 1', '"column": 2')], "line 2: the cursor would be outside"),
        ([HEADER, OPEN.replace('"column": 1', '"column": 1.0')], 'line 2: "column" must be a whole number from 0'),
        ([HEADER, OPEN.replace("x\\ny", "x\\n\\ud800")], 'line 2: "text" holds half a character'),
        ([HEADER, OPEN, OPEN], "line 3: this document is open"),
        ([HEADER, '{"time": 1, "action": "switch", "document": "a.py"}'], "line 2: this document is not open"),
        ([HEADER, '{"time": 1, "action": "move", "line": 0, "column": 0}'], "line 2: no document is in front"),
        (
            [HEADER, OPEN, '{"time": 1, "action": "insert", "text": "", "version": 2}'],
            'line 3: "text" must be text of 1',
        ),
        ([HEADER, OPEN, '{"time": 1, "action": "insert", "text": "q", "version": 3}'], 'line 3: "version" must be 2'),
        ([HEADER, OPEN, '{"time": 1, "action": "delete", "count": 4, "version": 2}'], "line 3: fewer characters"),
        ([HEADER, OPEN.replace('"time": 0', '"time": 9'), OPEN.replace("a.py", "b.py")], "line 3: time goes back"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_without_its_text(tmp_path, lines, said):
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(SettingsError) as error:
        read_trace(path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert "nonsense" not in str(error.value)


def test_files_that_cannot_be_read_are_one_line(tmp_path):
    with pytest.raises(SettingsError, match="No such file"):
        read_trace(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b'{"foretype_trace": 1}\n\xff\n')
    with pytest.raises(SettingsError, match="not UTF-8"):
        read_trace(tmp_path / "bytes")
    with pytest.raises(SettingsError, match="directory"):
        write_trace(tmp_path, [])
    for path in (tmp_path, tmp_path / "nowhere" / "t"):
        with pytest.raises(SettingsError, match="no trace can be written there"):
            check_place(path)
    check_place(tmp_path / "t")


def test_sizes_are_bounded(tmp_path, monkeypatch):
    path = tmp_path / "trace.jsonl"
    write_trace(path, [Open(0.0, "a.py", "", 0, 0), Insert(0.1, "x"), Insert(0.2, "y")])
    monkeypatch.setattr(trace_file, "MOST_LINES", 3)
    with pytest.raises(SettingsError, match="line 4: a trace may have 3 lines"):
        read_trace(path)
    monkeypatch.setattr(trace_file, "MOST_BYTES", 10)
    with pytest.raises(SettingsError, match="MiB"):
        read_trace(path)


def test_the_example_of_the_docs_is_a_trace(tmp_path):
    page = (Path(trace_file.__file__).parents[2] / "docs" / "replay.md").read_text(encoding="utf-8")
    lines = [line.strip() for line in page.splitlines() if line.startswith("    {")]
    (tmp_path / "t").write_text("\n".join(lines))
    assert [type(action) for action in read_trace(tmp_path / "t")] == [Open, Insert, Accept]


def test_a_line_by_hand(tmp_path):
    write_trace(tmp_path / "t", [Open(0.0, "a.py", "x", 0, 1), Delete(0.25, slip=True)])
    last = (tmp_path / "t").read_text().splitlines()[-1]
    assert json.loads(last) == {"time": 0.25, "action": "delete", "count": 1, "version": 2, "slip": True}
