"""The engine against the stock model, and its promises about reuse, fairness and failure."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer

from completion_server.models.tiny import tiny_tokenizer
from completion_server.protocol import Cancelled, Decoding, Delta, Error, Limits, Warmed
from speculative import FixedPolicy

CODE = "def add(left, right):\n    return left + right\n\n\nclass Point:\n    def __init__(self, x, y):\n        "
LONG = "".join(f"value_{i} = add({i}, {i * 7 % 13})\n" for i in range(24))  # fits the window whole

MakeDriver = Callable[..., Any]


def stock_tokens(driver: Any, prompt: list[int], count: int) -> list[int]:
    """What the target alone gives, greedily, with no cache of any kind."""
    model, pair = driver.engine.pair.target.model, driver.engine.pair
    model.set_attn_implementation("eager")
    tokens = list(prompt)
    with torch.no_grad():
        while len(tokens) < len(prompt) + count:
            logits = model(torch.tensor([tokens]), use_cache=False).logits[0, -1, : pair.vocab_size]
            token = int(logits.argmax())
            if token in pair.layout.stop_ids:
                break
            tokens.append(token)
    model.set_attn_implementation("foretype")
    return tokens[len(prompt) :]


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
@pytest.mark.parametrize("draft", [False, True])
def test_the_text_is_what_the_stock_model_alone_would_write(
    make_driver: MakeDriver, tokenizer: Tokenizer, draft: bool, architecture: str
) -> None:
    driver = make_driver(draft=draft, healing=False, architecture=architecture)
    prompt = tokenizer.encode(CODE).ids
    driver.ask(CODE, limits=Limits(max_tokens=20, max_lines=99))
    (slot,) = [slot for slot in driver.engine.pair.slots.slots if slot.target.tokens]
    written = slot.target.tokens[len(prompt) :]  # all but perhaps the last token
    assert slot.target.tokens[: len(prompt)] == prompt
    assert len(written) >= 3
    assert written == stock_tokens(driver, prompt, 20)[: len(written)]


@pytest.mark.parametrize("k", [0, 1, 2, 4, 8, 15])
def test_drafting_never_changes_the_text(make_driver: MakeDriver, k: int) -> None:
    plain = make_driver().ask(CODE, decoding=Decoding(drafting=False))
    assert plain.usage.drafted_tokens == 0
    drafted = make_driver(draft=True, policy=FixedPolicy(k))
    for _ in range(3):  # cold, then warm with the previous suggestion to draft from
        result = drafted.ask(CODE)
        assert (result.text, result.finish) == (plain.text, plain.finish)
    assert (result.usage.drafted_tokens > 0) == (k > 0)


def test_a_padded_vocabulary_of_another_width_drafts_as_well(make_driver: MakeDriver) -> None:
    plain = make_driver(padded_to=400).ask(CODE, decoding=Decoding(drafting=False))
    driver = make_driver(draft=True, padded_to=400, draft_padded_to=352, drafters=(), policy=FixedPolicy(4))
    result = driver.ask(CODE)
    assert result.text == plain.text
    assert result.usage.drafted_by["model"] > 0


def test_a_draft_equal_to_the_target_is_always_right(make_driver: MakeDriver) -> None:
    driver = make_driver(draft=True, draft_seed=1, draft_layers=2, drafters=(), policy=FixedPolicy(4))
    usage = driver.ask(CODE, limits=Limits(max_tokens=21, max_lines=99)).usage
    assert usage.accepted_by["model"] == usage.drafted_by["model"] > 0
    assert usage.target_passes < usage.completion_tokens


def test_a_key_computes_only_what_it_added(make_driver: MakeDriver) -> None:
    driver = make_driver()
    cold = driver.ask(LONG).usage
    assert (cold.cached_tokens, cold.computed_tokens) == (0, cold.prompt_tokens)
    for end in ("v", "va", "val"):
        warm = driver.ask(LONG + end).usage
        assert warm.cached_tokens + warm.computed_tokens == warm.prompt_tokens
        assert warm.computed_tokens <= 3
        assert warm.prefill_passes == 0


def test_what_was_reused_gives_the_same_text_as_a_fresh_engine(make_driver: MakeDriver) -> None:
    driver = make_driver(draft=True)
    texts = [LONG + CODE[:end] for end in range(0, len(CODE), 7)]
    for before in texts:
        driver.poison_stale()
        assert driver.ask(before).text == make_driver(draft=True).ask(before).text


def test_more_documents_than_slots(make_driver: MakeDriver) -> None:
    """Slots are evicted and recomputed; nobody gets another's text or an error."""
    driver = make_driver(slots=2)
    documents = {name: LONG.replace("value", name) for name in ("a", "b", "c", "d")}
    expected = {name: make_driver().ask(text, document=name).text for name, text in documents.items()}
    for _ in range(2):
        for name, text in documents.items():
            assert driver.ask(text, document=name).text == expected[name]
    assert driver.engine.pair.slots.evictions > 0


def test_the_memory_budget_is_kept_and_used_only_as_needed(make_driver: MakeDriver) -> None:
    """Eight slots are asked for, a byte is missing for four; six people come."""
    one = make_driver(draft=True).engine.pair
    slot_bytes = one.memory.slot_bytes + one.draft.memory.slot_bytes
    budget = 4 * slot_bytes - 1
    driver = make_driver(draft=True, slots=8, kv_budget=budget, poison=False)
    assert (driver.engine.snapshot().slots_total, driver.engine.snapshot().kv_bytes) == (3, 0)
    texts = [LONG.replace("value", name) for name in ("a", "b", "c", "d", "e", "f")]
    driver.ask(texts[0])
    assert driver.engine.snapshot().kv_bytes == slot_bytes
    asked = [driver.submit(text, client=i) for i, text in enumerate(texts)]
    while driver.engine.busy:
        driver.engine.step()
        assert driver.engine.snapshot().kv_bytes <= budget
    assert driver.engine.snapshot().kv_bytes == 3 * slot_bytes
    assert driver.engine.pair.slots.evictions >= 3
    assert [one.result.text for one in asked] == [make_driver().ask(text).text for text in texts]


def test_two_clients_take_turns_and_get_what_they_get_alone(make_driver: MakeDriver) -> None:
    alone = [make_driver().ask(text).text for text in (LONG + "a", CODE)]
    driver = make_driver()
    first = driver.submit(LONG + "a", client=1)
    for _ in range(3):
        driver.engine.step()
    second = driver.submit(CODE, client=2, document="other.py")
    passes = 0
    while not second.replies:
        driver.engine.step()
        passes += 1
    assert not first.replies  # the cold prompt of one does not hold up the other …
    alone_passes = second.result.usage.target_passes + second.result.usage.prefill_passes
    assert passes <= 2 * alone_passes + 1  # … by more than every second pass
    driver.run()
    assert [first.result.text, second.result.text] == alone


def test_a_request_waits_when_every_slot_is_at_work(make_driver: MakeDriver) -> None:
    driver = make_driver(slots=1)
    first = driver.submit(LONG, client=1)
    driver.engine.step()
    second = driver.submit(CODE, client=2)
    driver.run()
    assert first.result.text == make_driver().ask(LONG).text
    assert second.result.text == make_driver().ask(CODE).text


def test_warm_computes_the_prompt_before_the_first_key(make_driver: MakeDriver) -> None:
    driver = make_driver(draft=True)
    warm = driver.submit(LONG, warm=True)
    driver.run()
    assert isinstance(warm.last, Warmed)
    assert warm.last.usage.computed_tokens == warm.last.usage.prompt_tokens
    usage = driver.ask(LONG + "v").usage
    assert usage.computed_tokens <= 3
    assert usage.draft_cached_tokens >= usage.prompt_tokens - 3
    assert usage.prefill_passes == 0


def test_a_warm_up_gives_way_to_a_key(make_driver: MakeDriver) -> None:
    driver = make_driver()
    warm = driver.submit(LONG, warm=True, document="b.py")
    driver.engine.step()
    key = driver.submit(CODE)
    while not key.replies:
        driver.engine.step()
    assert not warm.replies


def test_streamed_text_is_the_text(make_driver: MakeDriver) -> None:
    driver = make_driver()
    asked = driver.submit(CODE, stream=True)
    driver.run()
    deltas = [reply.text for reply in asked.replies if isinstance(reply, Delta)]
    assert "".join(deltas).startswith(asked.result.text)
    assert len(deltas) > 1
    assert all(deltas)


def test_an_exception_costs_one_request_and_says_nothing_of_its_text(
    make_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    driver = make_driver()
    expected = make_driver().ask(LONG + CODE).text
    decoder = driver.engine.pair.target
    forward, calls, failing = decoder.forward, [], [True]

    def fails_in_the_third_pass(memory: Any, feeds: Any) -> Any:
        logits = forward(memory, feeds)  # the pass has written its keys and values
        calls.append(feeds[0].slot)
        if failing and feeds[0].slot == calls[0] and calls.count(calls[0]) == 3:
            raise RuntimeError(f"cannot compute {LONG[:40]}")
        return logits

    monkeypatch.setattr(decoder, "forward", fails_in_the_third_pass)
    failed = driver.submit(LONG + CODE)
    driver.engine.step()
    bystander = driver.submit(CODE, client=2)
    driver.run()
    assert isinstance(failed.last, Error)
    assert failed.last.code == "internal"
    assert "value_" not in failed.last.message + caplog.text
    assert "RuntimeError" in caplog.text
    assert bystander.result.text == make_driver().ask(CODE).text
    driver.poison_stale()
    failing.clear()
    assert driver.ask(LONG + CODE).text == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("", "x = 1\n"),
        ("x", ""),
        ("y = [" + "1, " * 30_000, "]"),
        ("\n" * 5_000, "\n" * 5_000),
        ("漢字🙂é\u2028\x0c" * 400, "🙂"),
        ("<|endoftext|><|fim_prefix|>", "<|fim_middle|>"),
    ],
)
def test_absurd_texts_get_a_result(make_driver: MakeDriver, before: str, after: str) -> None:
    driver = make_driver()
    usage = driver.ask(before, after).usage
    assert 1 <= usage.prompt_tokens <= driver.engine.pair.context_tokens


def test_the_context_is_never_exceeded(make_driver: MakeDriver) -> None:
    driver = make_driver(context=128)
    for end in range(0, 200, 9):
        result = driver.ask(LONG + "abc " * end, limits=Limits(max_tokens=1024, max_lines=99))
        assert result.usage.prompt_tokens + result.usage.completion_tokens <= 128


def test_control_tokens_in_the_text_are_text(make_driver: MakeDriver) -> None:
    tokens = tiny_tokenizer(fim=True)
    driver = make_driver(fim=True)
    before = 'MARK = "<|fim_middle|>"\nx = '
    driver.ask(before, "\n")
    slot = next(slot for slot in driver.engine.pair.slots.slots if slot.target.tokens)
    middle = tokens.token_to_id("<|fim_middle|>")
    assert slot.target.tokens.count(middle) == 1  # the marker of the layout, not the user's text


def test_sampling_repeats_for_a_seed_and_differs_between_seeds(make_driver: MakeDriver) -> None:
    def sample(seed: int) -> str:
        text: str = make_driver().ask(CODE, decoding=Decoding(temperature=1.0, top_k=50, top_p=0.95, seed=seed)).text
        return text

    assert sample(1) == sample(1)
    assert len({sample(seed) for seed in range(6)}) > 1


def test_healing_continues_the_word_under_the_cursor(make_driver: MakeDriver) -> None:
    """The prompt loses its last tokens and the generated bytes begin with what they spelled."""
    driver = make_driver()
    result = driver.ask(CODE + "retu")
    slot = next(slot for slot in driver.engine.pair.slots.slots if slot.target.tokens)
    generated = slot.target.tokens[result.usage.prompt_tokens :]
    assert driver.engine.pair.text.decode_bytes(generated).lstrip().startswith(b"retu")
    assert result.usage.prompt_tokens < len(driver.engine.pair.text.encode(CODE + "retu"))


def test_closing_a_document_and_leaving(make_driver: MakeDriver) -> None:
    driver = make_driver()
    text = driver.ask(CODE).text
    driver.engine.close_document(1, "a.py")
    driver.engine.close_document(1, "never-opened.py")
    driver.engine.disconnect(1)
    assert driver.ask(CODE).text == text


def test_wasted_tokens_are_those_of_cancelled_requests(make_driver: MakeDriver) -> None:
    driver = make_driver(chunk=16)
    asked = driver.submit(LONG)
    driver.engine.step()
    driver.engine.step()
    asked.job.cancel("superseded")
    driver.run()
    assert asked.last == Cancelled(1, "superseded", asked.last.usage)
    snapshot = driver.engine.snapshot()
    assert (snapshot.wasted_tokens, snapshot.cancelled, snapshot.completed) == (32, 1, 0)
