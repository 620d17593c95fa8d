"""Pairs by name, pairs from files of the user's, and pairs made of a target and a draft."""

from pathlib import Path

import pytest

from completion_server.errors import SettingsError
from completion_server.pairs import (
    GPU_DEFAULT,
    GPU_DEFAULT_BYTES,
    ModelRef,
    choose,
    default_name,
    load_pairs,
    parse_pairs,
    user_pairs_file,
)


def test_the_built_in_pairs() -> None:
    pairs = load_pairs()
    assert list(pairs) == [
        "embedded",
        "qwen-7b-0.5b",
        "qwen-7b-1.5b",
        "qwen-1.5b-0.5b",
        "starcoder2-7b-3b",
        "deepseek-6.7b-1.3b",
        "codegemma-7b-2b",
        "granite-8b-3b",
    ]
    assert pairs["embedded"].draft == ModelRef("shipped", "embedded-draft")
    assert pairs["qwen-7b-0.5b"].models == (
        ModelRef("hub", "Qwen/Qwen2.5-Coder-7B"),
        ModelRef("hub", "Qwen/Qwen2.5-Coder-0.5B"),
    )
    for name, pair in pairs.items():
        assert pair.name == name
        assert ("model" in pair.drafters) == (pair.draft is not None)


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("embedded", ModelRef("embedded", "embedded")),
        ("Qwen/Qwen2.5-Coder-7B", ModelRef("hub", "Qwen/Qwen2.5-Coder-7B")),
        ("org/name@v1.0", ModelRef("hub", "org/name", "v1.0")),
        ("org/name@refs/pr/3", ModelRef("hub", "org/name", "refs/pr/3")),
        ("/models/mine", ModelRef("folder", "/models/mine")),
        ("./mine", ModelRef("folder", "/base/mine")),
        ("../mine", ModelRef("folder", "/mine")),
        ("mine.gguf", ModelRef("gguf", "/base/mine.gguf")),
        ("sub/mine.gguf", ModelRef("gguf", "/base/sub/mine.gguf")),
    ],
)
def test_a_model_is_named_in_four_ways(text: str, ref: ModelRef) -> None:
    assert ModelRef.parse(text, Path("/base")) == ref


def test_a_home_folder_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert ModelRef.parse("~/m") == ModelRef("folder", "/home/me/m")


@pytest.mark.parametrize("text", ["", "name", "a/b/c", "n-gram", "org/../etc", "org/name@", "org/na me", "http://a/b"])
def test_what_names_no_model_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="names no model"):
        ModelRef.parse(text)


def test_a_ref_is_written_as_it_was_read() -> None:
    for text in ("embedded", "org/name", "org/name@rev", "/a/b.gguf"):
        assert str(ModelRef.parse(text)) == text


def test_a_users_file_adds_and_replaces() -> None:
    path = user_pairs_file()
    path.parent.mkdir(parents=True)
    path.write_text(
        """
        [[pair]]
        name = "mine"
        target = "models/target.gguf"
        draft = "./models/draft"
        drafters = ["model", "n-gram"]
        layout = "qwen"
        seeded = false
        healing = false

        [[pair]]
        name = "embedded"
        target = "org/other"
        """,
        encoding="utf-8",
    )
    pairs = load_pairs()
    mine = pairs["mine"]
    assert mine.target == ModelRef("gguf", str(path.parent / "models/target.gguf"))
    assert mine.draft == ModelRef("folder", str(path.parent / "models/draft"))
    assert (mine.drafters, mine.layout) == (("model", "n-gram"), "qwen")
    assert (mine.seeded, mine.healing) == (False, False)
    assert (pairs["qwen-7b-0.5b"].seeded, pairs["qwen-7b-0.5b"].healing) == (True, True)
    assert pairs["embedded"].target == ModelRef("hub", "org/other")
    assert len(pairs) == 9


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[pair]", "f.toml is not valid TOML"),
        (f"pair = {'[' * 5_000}", "f.toml is not valid TOML: it is nested too deeply"),
        (f"pair = {'9' * 5_000}", "f.toml is not valid TOML"),
        ("[[pair]]\nname = 'a'\ntarget = '~no-such-user/m'", "pair 'a': .* a user that is not there"),
        ("[mine]\ntarget = 'a/b'", "f.toml: unknown key 'mine'; allowed are pair"),
        ("[pair]\nname = 'a'", r"write \[\[pair\]\]"),
        ("pair = 3", r"write \[\[pair\]\]"),
        ("pair = ['x']", "every pair is a table"),
        ("[[pair]]\ntarget = 'a/b'", "f.toml: the key 'name' is missing"),
        ("[[pair]]\nname = ''\ntarget = 'a/b'", "name must not be empty"),
        ("[[pair]]\nname = 'a'", "f.toml, pair 'a': the key 'target' is missing"),
        ("[[pair]]\nname = 'a'\ntarget = 'a/b'\ndraft_model = 'x'", "pair 'a': unknown key 'draft_model'"),
        ("[[pair]]\nname = 'a'\ntarget = 7", "target must be a str, not int"),
        ("[[pair]]\nname = 'a'\ntarget = 'b'", "pair 'a': 'b' names no model"),
        ("[[pair]]\nname = 'a'\ntarget = 'a/b'\ndrafters = ['magic']", "'magic' is no drafter; allowed are tail"),
        ("[[pair]]\nname = 'a'\ntarget = 'a/b'\ndrafters = ['model']", "needs a draft model"),
        ("[[pair]]\nname = 'a'\ntarget = 'a/b'\n[[pair]]\nname = 'a'\ntarget = 'a/b'", "two pairs are called 'a'"),
    ],
)
def test_a_mistake_in_a_pairs_file_is_named(text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        parse_pairs(text, "f.toml", Path("/"))


def test_a_file_that_is_not_text_is_named() -> None:
    path = user_pairs_file()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_pairs()


def test_a_pair_is_chosen_by_name() -> None:
    assert choose(load_pairs(), pair="qwen-1.5b-0.5b").target.name == "Qwen/Qwen2.5-Coder-1.5B"
    with pytest.raises(SettingsError, match="no pair is called 'qwen'; there are: embedded, "):
        choose(load_pairs(), pair="qwen")


def test_a_pair_is_made_of_a_target_and_a_draft() -> None:
    pair = choose(load_pairs(), target="org/big", draft="org/small")
    assert (pair.target.name, pair.draft) == ("org/big", ModelRef("hub", "org/small"))
    assert pair.drafters == ("tail", "n-gram", "model")
    for draft in ("n-gram", None):
        alone = choose(load_pairs(), target="org/big", draft=draft)
        assert (alone.draft, alone.drafters) == (None, ("tail", "n-gram"))
    with pytest.raises(SettingsError, match="exclude each other"):
        choose(load_pairs(), pair="embedded", target="org/big")


def test_a_draft_beside_a_name_replaces_the_pairs_draft() -> None:
    pair = choose(load_pairs(), pair="qwen-7b-0.5b", draft="n-gram")
    assert (pair.draft, pair.drafters) == (None, ("tail", "n-gram"))
    assert pair.name == "qwen-7b-0.5b+n-gram"


def test_the_default_is_the_big_pair_only_where_it_fits() -> None:
    assert default_name(None) == "embedded"
    assert default_name(GPU_DEFAULT_BYTES - 1) == "embedded"
    assert default_name(GPU_DEFAULT_BYTES) == GPU_DEFAULT
    assert choose(load_pairs()).name == "embedded"
    assert choose(load_pairs(), free_device_bytes=80 * 2**30).name == GPU_DEFAULT
