"""Scores cover the text, each the log-probability that the target gives its token."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from completion_server.engine.scores import Scores
from completion_server.protocol import Decoding, Limits, TokenScore

MakeDriver = Callable[..., Any]

CODE = "def add(left, right):\n    return left + right\n\n\ndef sub(left, right):\n    return"


def test_a_character_of_several_tokens_has_one_score() -> None:
    scores = Scores()
    scores.add("a", -1.0, waits=False)
    scores.add("", -0.5, waits=True)
    scores.add("", -0.25, waits=True)
    scores.add("漢b", -2.0, waits=False)
    assert scores.within(3) == (TokenScore(1, -1.0), TokenScore(3, -2.75))


def test_tokens_before_the_cursor_count_only_where_they_reach_over_it() -> None:
    scores = Scores()
    scores.add("", -9.0, waits=False)
    scores.add("rn", -0.5, waits=False)
    assert scores.within(2) == (TokenScore(2, -0.5),)


def test_the_last_token_is_cut_where_the_text_ends() -> None:
    scores = Scores()
    scores.add("ab", -1.0, waits=False)
    scores.add(")\n\n", -2.0, waits=False)
    scores.add("x", -3.0, waits=False)
    assert scores.within(3) == (TokenScore(2, -1.0), TokenScore(3, -2.0))
    assert scores.within(2) == (TokenScore(2, -1.0),)
    assert scores.within(0) == ()


@pytest.mark.parametrize("draft", [False, True])
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_scores_are_what_the_stock_model_says_of_the_text(
    make_driver: MakeDriver, draft: bool, temperature: float
) -> None:
    """With a token per byte the tokens of a text are known."""
    driver = make_driver(plain_text=True, draft=draft, healing=False)
    decoding = Decoding(temperature=temperature, top_k=3, seed=3)
    result = driver.ask(CODE, limits=Limits(max_tokens=16, max_lines=99), decoding=decoding)
    pair = driver.engine.pair
    prompt, written = pair.text.encode(CODE), pair.text.encode(result.text)
    assert len(written) == len(result.text) > 0
    model = pair.target.model
    model.set_attn_implementation("eager")
    with torch.no_grad():
        logits = model(torch.tensor([[*prompt, *written]]), use_cache=False).logits[0]
    model.set_attn_implementation("foretype")
    logprobs = logits[len(prompt) - 1 : -1, : pair.vocab_size].log_softmax(-1)
    assert [score.end for score in result.scores] == list(range(1, len(written) + 1))
    assert [score.logprob for score in result.scores] == pytest.approx(
        [float(row[token]) for row, token in zip(logprobs, written, strict=True)]
    )


@pytest.mark.parametrize("before", [CODE, CODE[:-2], CODE + " lef", CODE + " le"])
def test_scores_cover_exactly_the_text_where_tokens_are_healed(make_driver: MakeDriver, before: str) -> None:
    result = make_driver(draft=True).ask(before)
    ends = [score.end for score in result.scores]
    assert ends == sorted(set(ends))
    assert ends[-1:] == [len(result.text)] * bool(result.text)
    assert all(score.logprob <= 0 for score in result.scores)


def test_a_raw_request_goes_on_to_the_limit_whatever_it_writes(make_driver: MakeDriver) -> None:
    limits, one_line = Limits(max_tokens=40, max_lines=40), Limits(max_tokens=40, max_lines=1)
    decoding = Decoding(healing=False)
    driver = make_driver(plain_text=True)
    raw = driver.ask(CODE, limits=limits, decoding=decoding, raw=True)
    assert (len(raw.text), raw.finish) == (40, "length")
    first = raw.text.partition("\n")[0]
    assert driver.ask(CODE, limits=one_line, decoding=decoding, raw=True).text == first
    assert driver.ask(CODE, limits=one_line, decoding=decoding).text == first.rstrip()


def test_without_healing_the_prompt_ends_where_the_text_does(make_driver: MakeDriver) -> None:
    driver = make_driver()
    healed = driver.ask("retu")
    plain = driver.ask("retu", decoding=Decoding(healing=False))
    assert plain.usage.prompt_tokens > healed.usage.prompt_tokens
    assert make_driver(healing=False).ask("retu").text == plain.text
