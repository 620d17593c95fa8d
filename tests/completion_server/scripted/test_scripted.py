"""The scripted engine keeps the promises of `Backend`."""

import queue
import time

import pytest

from completion_server.errors import SettingsError
from completion_server.protocol import (
    Alternative,
    Cancelled,
    Complete,
    Context,
    Delta,
    EngineMessage,
    Error,
    Limits,
    PairInUse,
    Result,
    State,
    TokenScore,
    UsePair,
    Warm,
    Warmed,
)
from completion_server.scripted import MAX_QUEUE, Rule, Script, ScriptedBackend, read_script

NEVER = Rule("late", match="wait", delay_ms=3_600_000)
SOON = 20.0


class Desk:
    """Submits requests and collects their replies in the order in which they come."""

    def __init__(self, *rules: Rule, **script: object) -> None:
        self.backend = ScriptedBackend(Script(rules=rules, **script))  # type: ignore[arg-type]
        self.states: list[State] = []
        self.replies: queue.SimpleQueue[EngineMessage] = queue.SimpleQueue()
        self.backend.start(self.states.append)

    def ask(self, request: int, before: str = "", document: str = "d", client: int = 1, stream: bool = False) -> None:
        complete = Complete(request, Context(document, request, before, ""), stream=stream)
        self.backend.submit(client, complete, time.perf_counter(), self.replies.put)

    def warm(self, request: int, client: int = 1) -> None:
        warm = Warm(request, Context("d", request, "", ""))
        self.backend.submit(client, warm, time.perf_counter(), self.replies.put)

    def wait_until_running(self) -> None:
        deadline = time.monotonic() + SOON
        while self.backend.snapshot().running == 0:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def reply(self) -> EngineMessage:
        return self.replies.get(timeout=SOON)

    def nothing_more(self) -> bool:
        self.backend.stop(SOON)
        return self.replies.empty()


def test_a_rule_says_how_sure_it_is_and_what_else_could_be_said() -> None:
    rule = '{"text": "a + b\\n", "scores": [[1, -0.5], [99, -2]], "alternatives": ["b", "c\\nd", "e"]}'
    desk = Desk(*read_script(f'{{"rules": [{rule}]}}').rules)
    desk.ask(1)
    result = desk.reply()
    assert isinstance(result, Result)
    assert result.scores == (TokenScore(1, -0.5), TokenScore(5, -2.0))
    assert result.alternatives == ()
    request = Complete(2, Context("d", 2, "", ""), Limits(max_lines=1), alternatives=3)
    desk.backend.submit(1, request, time.perf_counter(), desk.replies.put)
    result = desk.reply()
    assert isinstance(result, Result)
    certain = (TokenScore(1, 0.0),)
    assert result.alternatives == (
        Alternative("b", "end-of-text", certain),
        Alternative("c", "end-of-line", certain),
    )


def test_a_raw_request_is_told_all_of_it() -> None:
    desk = Desk(Rule("a\n\n\nb  \n"))
    desk.backend.submit(1, Complete(1, Context("d", 1, "", ""), raw=True), time.perf_counter(), desk.replies.put)
    result = desk.reply()
    assert isinstance(result, Result)
    assert (result.text, result.scores) == ("a\n\n\nb  \n", (TokenScore(8, 0.0),))


def test_first_rule_that_matches_is_said() -> None:
    desk = Desk(Rule("a + b", match="return "), Rule("x"), Rule("never", match="return "))
    desk.ask(1, "    return ")
    desk.ask(2, "    retur", document="e")
    first, second = desk.reply(), desk.reply()
    assert isinstance(first, Result)
    assert isinstance(second, Result)
    assert (first.id, first.text, second.id, second.text) == (1, "a + b", 2, "x")
    assert (first.usage.prompt_tokens, first.usage.completion_tokens) == (11, 5)
    assert desk.nothing_more()


def certain(text: str, end: int) -> Delta:
    return Delta(1, text, (TokenScore(end, 0.0),))


def test_chunks_are_streamed_if_asked_for() -> None:
    desk = Desk(Rule("abcdefg", chunks=3))
    desk.ask(1, stream=True)
    assert [desk.reply() for _ in range(3)] == [certain("ab", 2), certain("cd", 4), certain("efg", 7)]
    assert isinstance(desk.reply(), Result)
    desk.ask(2)
    assert isinstance(desk.reply(), Result)
    assert desk.nothing_more()


def test_suggestion_ends_where_the_engine_would_end_it() -> None:
    desk = Desk(Rule("1)\nx = 2\n", chunks=4))
    desk.ask(1, "f(", stream=True)
    pieces: list[str] = []
    while isinstance(reply := desk.reply(), Delta):
        pieces.append(reply.text)
    assert isinstance(reply, Result)
    assert reply.text == "".join(pieces) == "1)\nx = 2"
    one_line = Complete(2, Context("d", 2, "f(", ")\n"), Limits(max_lines=1))
    desk.backend.submit(1, one_line, time.perf_counter(), desk.replies.put)
    reply = desk.reply()
    assert isinstance(reply, Result)
    assert (reply.text, reply.finish) == ("1)", "end-of-line")


def test_running_request_is_cancelled_at_once() -> None:
    desk = Desk(NEVER)
    desk.ask(1, "wait")
    desk.wait_until_running()
    desk.backend.cancel(1, 1)
    reply = desk.reply()
    assert isinstance(reply, Cancelled)
    assert reply.reason == "client"
    assert desk.nothing_more()


def test_newer_request_for_the_document_supersedes() -> None:
    desk = Desk(NEVER, Rule("new"))
    desk.ask(1, "wait")
    desk.wait_until_running()
    desk.ask(2)
    first, second = desk.reply(), desk.reply()
    assert isinstance(first, Cancelled)
    assert (first.id, first.reason) == (1, "superseded")
    assert isinstance(second, Result)
    assert second.id == 2


def test_other_documents_and_clients_are_left_alone() -> None:
    desk = Desk(NEVER)
    desk.ask(1, "wait")
    desk.ask(2, "wait", document="e")
    desk.ask(1, "wait", client=2)
    assert desk.replies.empty()
    desk.backend.disconnect(1)
    gone = [desk.reply(), desk.reply()]
    assert sorted(reply.id for reply in gone if isinstance(reply, Cancelled)) == [1, 2]
    assert desk.replies.empty()
    desk.backend.cancel(2, 1)
    assert isinstance(desk.reply(), Cancelled)


def test_any_request_of_the_client_supersedes_a_warm_one() -> None:
    desk = Desk(NEVER)
    desk.ask(1, "wait", client=2)
    desk.warm(1)
    desk.ask(2, "wait", document="e")
    reply = desk.reply()
    assert isinstance(reply, Cancelled)
    assert (reply.id, reply.reason) == (1, "superseded")


def test_warm_request_is_answered() -> None:
    desk = Desk()
    desk.warm(1)
    assert isinstance(desk.reply(), Warmed)


def test_error_by_script() -> None:
    desk = Desk(Rule(error="overloaded"))
    desk.ask(1)
    assert desk.reply() == Error(1, "overloaded", "the script says so")


def test_rule_that_makes_no_sense_fails_its_request_alone() -> None:
    desk = Desk(Rule(5, match="bad"), Rule("good"))  # type: ignore[arg-type]
    desk.ask(1, "bad")
    assert isinstance(desk.reply(), Error)
    desk.ask(2)
    assert isinstance(desk.reply(), Result)


def test_full_queue_is_overloaded_at_once() -> None:
    desk = Desk(NEVER)
    desk.ask(1, "wait")
    desk.wait_until_running()
    for request in range(2, MAX_QUEUE + 3):
        desk.ask(request, "wait", document=str(request))
    reply = desk.reply()
    assert isinstance(reply, Error)
    assert (reply.id, reply.code) == (MAX_QUEUE + 2, "overloaded")


def test_loading_is_told_and_requests_wait_for_it() -> None:
    desk = Desk(Rule("x"), load_ms=1.0)
    desk.ask(1)
    assert isinstance(desk.reply(), Result)
    assert [state.phase for state in desk.states] == ["loading", "ready"]


def test_failed_loading_answers_every_request() -> None:
    desk = Desk(Rule("x"), load_error="no such file")
    desk.ask(1)
    assert desk.reply() == Error(1, "model", "no such file")
    assert desk.backend.state.phase == "failed"


def test_stop_answers_what_is_open_and_what_comes_later() -> None:
    desk = Desk(NEVER)
    desk.ask(1, "wait")
    desk.ask(2, "wait", document="e")
    desk.backend.stop(SOON)
    desk.ask(3, "wait", document="f")
    replies = [desk.reply() for _ in range(3)]
    assert sorted(reply.id for reply in replies if isinstance(reply, Cancelled)) == [1, 2, 3]
    assert {reply.reason for reply in replies if isinstance(reply, Cancelled)} == {"shutdown"}


def test_callable_in_place_of_a_script() -> None:
    backend = ScriptedBackend(lambda request: Rule(request.context.before.upper()))
    replies: queue.SimpleQueue[EngineMessage] = queue.SimpleQueue()
    backend.start(lambda _state: None)
    backend.submit(1, Complete(1, Context("d", 1, "abc", "")), 0.0, replies.put)
    reply = replies.get(timeout=SOON)
    assert isinstance(reply, Result)
    assert reply.text == "ABC"


def test_script_from_json() -> None:
    script = read_script('{"rules": [{"match": "a", "text": "b", "chunks": 2}], "load_ms": 5}')
    assert script == Script((Rule("b", "a", chunks=2),), load_ms=5)
    assert read_script("{}") == Script()


@pytest.mark.parametrize(
    "text", ["", "[]", '{"rules": 5}', '{"rules": [5]}', '{"rule": []}', '{"rules": [{"txt": 1}]}']
)
def test_wrong_script_is_an_error_a_person_can_read(text: str) -> None:
    with pytest.raises(SettingsError, match=r"script|rule"):
        read_script(text)


def test_another_pair_says_something_else_from_its_switch_on() -> None:
    desk = Desk(Rule("new", pair="other"), Rule("old"), pairs=("other",))
    desk.backend.use_pair(UsePair(1, "scripted"), desk.replies.put)
    assert desk.reply() == PairInUse(1, "scripted", 0.0)
    desk.ask(2)
    assert isinstance(said := desk.reply(), Result)
    assert said.text == "old"
    desk.backend.use_pair(UsePair(3, "other"), desk.replies.put)
    assert desk.reply() == PairInUse(3, "other", 0.0)
    desk.ask(4)
    assert isinstance(said := desk.reply(), Result)
    assert said.text == "new"
    desk.backend.use_pair(UsePair(5, "a third"), desk.replies.put)
    assert desk.reply() == Error(5, "settings", "no pair is called 'a third'; there are: scripted, other")
    assert {state.phase for state in desk.states[1:]} == {"ready"}
    assert desk.nothing_more()


def test_a_request_that_runs_ends_before_another_pair_comes() -> None:
    desk = Desk(NEVER, pairs=("other",))
    desk.ask(1, "wait")
    desk.wait_until_running()
    desk.backend.use_pair(UsePair(2, "other"), desk.replies.put)
    desk.backend.use_pair(UsePair(3, "other"), desk.replies.put)
    refused = desk.reply()
    assert isinstance(refused, Error)
    assert (refused.id, refused.code) == (3, "request")
    assert desk.backend.state.pair == "scripted"
    desk.backend.cancel(1, 1)
    assert isinstance(desk.reply(), Cancelled)
    assert desk.reply() == PairInUse(2, "other", 0.0)
    assert desk.nothing_more()


def test_the_end_comes_before_another_pair() -> None:
    desk = Desk(pairs=("other",), load_ms=3_600_000)
    desk.backend.use_pair(UsePair(1, "other"), desk.replies.put)
    desk.backend.stop(SOON)
    assert isinstance(desk.reply(), Cancelled)
    assert desk.nothing_more()
