"""Typing in real time on an engine by script, as fast as the test can: processes, policies, traces, editors."""

import json

import pytest

from bench.replay.__main__ import main
from bench.replay.actions import Accept, Delete, Insert, Open
from bench.replay.trace_file import read_trace, write_trace

FAST = ("--speed", "20", "--cold", "0", "--seed", "3", "--json")
NEEDED = {
    *("keystrokes", "shown", "keystroke_to_suggestion_ms", "ttft_ms", "cold_ttft_ms", "goodput", "cached_token_ratio"),
    *("computed_tokens_per_key", "draft_acceptance_rate", "acceptance_length", "wasted_tokens", "from_cache"),
    *("identical_to_target_only", "policy", "rhythm", "intervals", "limits", "warm_up", "seed", "keys_saved"),
}


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "source.py"
    file.write_text("".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(60)))
    return str(file)


@pytest.fixture
def replay(scripted_command, capsys):
    """Runs a replay on an engine with these rules; its exit code, and its report where it has one."""

    def run(*arguments, rules=({"match": "ret", "text": "urn x + 1\n"}, {"text": "y\n"})):
        code = main(arguments, engine_command=scripted_command("--exit-with-parent", rules=list(rules)))
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else err

    return run


def test_a_person_types_and_accepts_words(replay, source, tmp_path):
    trace = tmp_path / "trace.jsonl"
    arguments = ("--pace", "human", "--files", source, "--keys", "120", "--warm-up", "10", "--write-trace", str(trace))
    code, result = replay(*arguments, *FAST, rules=[{"match": "\n    ", "text": "return x + 1\n"}, {"text": "y\n"}])
    assert code == 0
    assert result.keys() >= NEEDED
    assert result["identical_to_target_only"] is None
    assert (result["pace"], result["failed"]) == ("human", 0)
    assert result["keystroke_to_suggestion_ms"]["p95"] > 0
    assert result["suggestions"]["accepted"] + result["suggestions"]["partly_accepted"] > 0
    assert result["keys_saved"] > 0
    assert result["from_cache"] > 0
    done = read_trace(trace)
    keys = [action for action in done if isinstance(action, Insert | Delete | Accept)]
    assert len(keys) == result["keystrokes"] + 10
    assert {action.text for action in done if isinstance(action, Accept)} & {"return x + ", "return", "return x"}


def test_a_trace_is_typed_again(replay, source, tmp_path):
    trace, again = tmp_path / "trace.jsonl", tmp_path / "again.jsonl"
    write_trace(
        trace,
        [
            Open(0.0, "a.py", "def f(x):\n    ", 1, 4),
            *(Insert(1.0 + 0.5 * number, key) for number, key in enumerate("ret")),
            Accept(4.0, "urn x + 1"),
            Accept(5.0, "what nobody suggested"),
            Delete(6.0, 3),
        ],
    )
    code, result = replay("--trace", str(trace), "--write-trace", str(again), "--warm-up", "0", *FAST)
    assert code == 0
    assert (result["pace"], result["keystrokes"], result["policy"]) == ("trace", 6, None)
    assert result["suggestions"]["accepted"] + result["suggestions"]["partly_accepted"] == 1
    assert result["accepts_of_what_was_not_suggested"] == 1
    assert again.read_text() == trace.read_text()


def test_suggestions_that_grow_are_answered_with_their_first_line(replay, source):
    rules = [{"text": "y = 1\nz = 2\n" * 9, "chunks": 30, "delay_ms": 2}]
    arguments = ("--pace", "human", "--stream", "--files", source, "--keys", "40", "--warm-up", "0")
    code, result = replay(*arguments, *FAST, "--cold", "1", rules=rules)
    assert result["cold_ttft_ms"]["p50"] > 0
    assert (code, result["stream"]) == (0, True)
    assert result["ttft_ms"]["p50"] > 0
    assert result["answered_by_engine"] > 0


def test_more_editors_give_a_curve(replay, source):
    code, result = replay("--editors", "2", "--files", source, "--keys", "25", "--warm-up", "3", *FAST)
    assert code == 0
    assert list(result["by_editors"]) == ["1", "2"]
    one, two = result["by_editors"].values()
    assert two["keystrokes"] > 1.5 * one["keystrokes"] > 0
    assert len(two["p95_of_each"]) == 2
    assert result["knee"]["editors"] in (1, 2)
    assert "twice" in result["knee"]["rule"] or "times" in result["knee"]["rule"]
    assert (result["pace"], result["identical_to_target_only"]) == ("editors", None)


def test_keys_that_fail_are_the_exit_code(replay, source):
    code, result = replay("--pace", "human", "--files", source, "--keys", "5", *FAST, rules=[{"error": "request"}])
    assert code == 1
    assert result["failed"] > 0


def test_a_bad_trace_is_one_line(replay, tmp_path):
    (tmp_path / "bad").write_text('{"foretype_trace": 1}\n{}\n')
    code, said = replay("--trace", str(tmp_path / "bad"), *FAST)
    assert code == 2
    assert said.startswith(f"replay: {tmp_path / 'bad'}, line 2: ")
    assert said.count("\n") == 1


def test_a_table_for_a_person(scripted_command, source, capsys):
    command = scripted_command("--exit-with-parent", rules=[{"text": "y\n"}])
    arguments = ["--files", source, "--keys", "5", "--warm-up", "0", *FAST[:-1]]
    assert main(["--editors", "1", *arguments], engine_command=command) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "p95" in out
    assert "no knee up to 1" in out
    assert main(["--pace", "human", *arguments], engine_command=command) == 0
    assert "keystroke_to_suggestion_ms" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pace", "lockstep", "--editors", "2"], "in lockstep there is one editor"),
        (["--trace", "x", "--editors", "2"], "--trace or --editors"),
        (["--trace", "x", "--files", "y"], "--trace or --files"),
        (["--write-trace", "x"], "--pace human"),
        (["--stream"], "--stream and --speed go with --pace human"),
        (["--speed", "0"], "the speed must be a number above 0"),
        (["--limit-first-ms", "nan"], "the limit must be a number above 0"),
        (["--warm-up", "-1"], "at least 0"),
    ],
)
def test_options_that_make_no_sense_are_said(arguments, said, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert said in " ".join(capsys.readouterr().err.split())
