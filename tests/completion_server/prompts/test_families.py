"""The layout is chosen by the tokens that are there."""

import json

import pytest
from tokenizers import AddedToken, Tokenizer

from completion_server.prompts import FAMILIES, Layout, Slot, detect
from completion_server.tokenization import TextTokenizer

BY_NAME = {family.name: family for family in FAMILIES}


def with_tokens(backend: Tokenizer, *tokens: str) -> TextTokenizer:
    backend = Tokenizer.from_str(json.dumps(json.loads(backend.to_str())))
    backend.add_tokens([AddedToken(token, normalized=False) for token in tokens])
    return TextTokenizer(backend, end_ids=[2])


def test_the_real_tokenizer_of_qwen(qwen):
    assert detect(qwen) == (BY_NAME["qwen"], "")


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.control_tokens])
def test_each_family_by_its_tokens(llama_like_backend, family):
    repository = family.repository.control_tokens if family.repository else ()
    tokenizer = with_tokens(llama_like_backend, *family.control_tokens, *family.required, *repository)
    assert detect(tokenizer, model=f"some/{family.model}-4b") == (family, "")
    assert detect(tokenizer, name=family.name) == (family, "")


def test_mellum_is_told_by_its_name_alone(llama_like_backend):
    tokenizer = with_tokens(llama_like_backend, "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<filename>")
    assert detect(tokenizer, model="JetBrains/Mellum-4b-base")[0].name == "mellum"
    assert detect(tokenizer, model="ibm-granite/granite-8b-code-base")[0].name == "granite"


def test_without_tokens_prefix_only_and_a_warning(llama_like):
    family, warning = detect(llama_like)
    assert family.name == "below-first"
    assert "fill-in-the-middle" in warning


def test_a_name_whose_tokens_are_missing(llama_like):
    family, warning = detect(llama_like, name="qwen")
    assert family.name == "below-first"
    assert "<|fim_middle|>" in warning


def test_what_stands_below_can_be_left_out(llama_like):
    assert detect(llama_like, name="prefix-only") == (BY_NAME["prefix-only"], "")


def test_a_name_that_nobody_has(qwen):
    family, warning = detect(qwen, name="nonsense")
    assert family.name == "below-first"
    assert "codellama" in warning


def test_typed_text_is_always_last():
    assert all(family.parts[-1] is Slot.TYPED for family in FAMILIES)


def test_suffix_first_families_need_no_seeded_middle():
    assert {family.name for family in FAMILIES if not family.seeded} == {
        *("codellama", "codestral", "below-first", "prefix-only")
    }


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_without_a_seeded_middle_all_text_before_the_cursor_is_one(family):
    unseeded = family.unseeded()
    assert not unseeded.seeded
    assert sorted(map(str, unseeded.parts)) == sorted(map(str, family.parts))
    assert unseeded.parts[unseeded.parts.index(Slot.PREFIX) + 1] is Slot.TYPED
    assert (unseeded is family) == (not family.seeded)


def test_every_control_token_stops(qwen):
    assert Layout(BY_NAME["qwen"], qwen).stop_ids == frozenset(range(151643, 151665))
