"""Four layers of settings, and errors that say where the mistake is."""

import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completion_server.errors import SettingsError
from completion_server.folders import config_folder
from completion_server.settings import (
    ENVIRONMENT_ONLY,
    MOST_SECONDS,
    EngineSettings,
    MemoryBudget,
    load,
    merge,
    read_file,
)

ROOT = Path(__file__).resolve().parents[2]


def write_config(text: str) -> Path:
    path = config_folder() / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_given_means_defaults() -> None:
    assert load(environ={}) == EngineSettings()


def test_later_layers_win() -> None:
    write_config("[engine]\nslots = 2\nthreads = 2\nmax_queue = 2\n")
    environ = {"FORETYPE_THREADS": "3", "FORETYPE_MAX_QUEUE": "3", "HOME": "/x"}
    settings = load({"max_queue": 4, "device": None}, environ)
    assert (settings.slots, settings.threads, settings.max_queue) == (2, 3, 4)
    assert settings.device == "auto"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("pair", "qwen-7b-0.5b", "qwen-7b-0.5b"),
        ("device", "cuda:1", "cuda:1"),
        ("dtype", "bfloat16", "bfloat16"),
        ("context_tokens", "2048", 2048),
        ("chunk_tokens", "64", 64),
        ("kv_budget", "2GiB", MemoryBudget(bytes=2 * 2**30)),
        ("unload_after_s", "1.5", 1.5),
        ("exit_after_s", "0", 0.0),
        ("log_level", "debug", "debug"),
        ("drafting", "off", False),
        ("drafting", "TRUE", True),
    ],
)
def test_every_kind_of_value_can_come_from_the_environment(key: str, text: str, value: object) -> None:
    assert getattr(load(environ={f"FORETYPE_{key.upper()}": text}), key) == value


def test_values_of_a_file_have_their_own_types() -> None:
    write_config('[engine]\nkv_budget = 0.25\ndrafting = false\nexit_after_s = 60\ndtype = "float64"\n')
    settings = load(environ={})
    assert settings.kv_budget == MemoryBudget(share=0.25)
    assert (settings.drafting, settings.exit_after_s, settings.dtype) == (False, 60.0, "float64")


def test_a_target_of_a_higher_layer_forgets_the_pair_below() -> None:
    write_config('[engine]\npair = "embedded"\n')
    assert load({"target": "org/big"}, {}) == EngineSettings(target="org/big")
    assert load({"draft": "n-gram"}, {}) == EngineSettings(pair="embedded", draft="n-gram")
    write_config('[engine]\ntarget = "org/big"\ndraft = "org/small"\n')
    assert load(environ={"FORETYPE_PAIR": "embedded"}) == EngineSettings(pair="embedded")


def test_relative_models_of_a_file_start_at_the_file() -> None:
    path = write_config('[engine]\ntarget = "./big"\ndraft = "n-gram"\n')
    settings = load(environ={})
    assert (settings.target, settings.draft) == (str(path.parent / "big"), "n-gram")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("pair", ""),
        ("pair", 3),
        ("device", "gpu"),
        ("device", 0),
        ("dtype", "int4"),
        ("context_tokens", 127),
        ("context_tokens", 4096.5),
        ("context_tokens", "many"),
        ("context_tokens", True),
        ("slots", 0),
        ("threads", -1),
        ("kv_budget", "0"),
        ("kv_budget", "-1GiB"),
        ("kv_budget", "2 TiB"),
        ("kv_budget", "150%"),
        ("kv_budget", True),
        ("unload_after_s", "-1"),
        ("unload_after_s", "nan"),
        ("unload_after_s", "inf"),
        ("unload_after_s", [1]),
        ("unload_after_s", 315_360_001),
        ("unload_after_s", "1e12"),
        ("exit_after_s", 10**400),
        ("context_tokens", 1_048_577),
        ("chunk_tokens", 1_048_577),
        ("slots", 1025),
        ("max_queue", 65_537),
        ("threads", "1025"),
        ("kv_budget", "9999999GiB"),
        ("kv_budget", "9" * 400 + "GiB"),
        ("kv_budget", 10**400),
        ("device", "cuda:9999"),
        ("log_level", "loud"),
        ("drafting", "maybe"),
        ("drafting", 1),
    ],
)
def test_a_wrong_value_is_named_with_where_it_stands_and_what_is_allowed(key: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"f.toml: {key} cannot be .+; allowed: .+") as raised:
        merge(("f.toml", {key: value}))
    shown = repr(value) if len(repr(value)) <= 80 else f"{repr(value)[:77]}..."
    assert f" cannot be {shown};" in str(raised.value)


def test_the_longest_time_is_one_that_a_thread_can_wait() -> None:
    assert load({"unload_after_s": MOST_SECONDS}, {}).unload_after_s < threading.TIMEOUT_MAX


def test_a_number_that_python_cannot_write_is_refused_all_the_same() -> None:
    with pytest.raises(SettingsError, match="slots cannot be a number of thousands of digits"):
        merge(("f.toml", {"slots": 1 << 20_000}))


def test_unknown_settings_are_errors_wherever_they_stand() -> None:
    for source, call in {
        "the command line": lambda: load({"pear": "x"}, {}),
        "the environment": lambda: load(environ={"FORETYPE_PEAR": "x"}),
    }.items():
        with pytest.raises(SettingsError, match=f"{source}: unknown setting 'pear'; there are: pair, target"):
            call()
    path = write_config("[engine]\npear = 1\n")
    with pytest.raises(SettingsError, match=f"{re.escape(str(path))}: unknown setting 'pear'"):
        load(environ={})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[engine", "cannot be read as TOML"),
        ("[motor]\n", "unknown table or key 'motor'"),
        ("slots = 3\n", "unknown table or key 'slots'; settings stand in the table"),
        ("engine = 3\n", r"engine must be a table: \[engine\]"),
        (f"engine = {'[' * 5_000}", "nested too deeply"),
        (f"engine = {'9' * 5_000}", "cannot be read as TOML"),
        ('[engine]\ntarget = "~no-such-user/m"', "a user that is not there"),
        ('[engine]\ntarget = "./m\\u0000"', "zero byte"),
    ],
)
def test_a_file_of_another_shape_is_named(text: str, says: str) -> None:
    path = write_config(text)
    with pytest.raises(SettingsError, match=f"{re.escape(str(path))}.*{says}"):
        read_file(path)


def test_variables_of_other_modules_are_no_settings() -> None:
    assert load(environ=dict.fromkeys(ENVIRONMENT_ONLY, "x")) == EngineSettings()


def test_every_variable_that_the_code_reads_is_known() -> None:
    """A variable that settings does not know would stop the engine of whoever sets it."""
    settings = {f"FORETYPE_{name.upper()}" for name in EngineSettings.__dataclass_fields__}
    for package in ("completion_server", "lsp", "speculative", "bench"):
        for path in (ROOT / package).rglob("*.py"):
            read = set(re.findall(r"\"(FORETYPE_[A-Z_]*[A-Z])\"", path.read_text(encoding="utf-8")))
            assert read <= ENVIRONMENT_ONLY | settings, path


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("2GiB", MemoryBudget(bytes=2_147_483_648)),
        ("1.5 MiB", MemoryBudget(bytes=1_572_864)),
        ("4096", MemoryBudget(bytes=4096)),
        ("4096B", MemoryBudget(bytes=4096)),
        ("0.5", MemoryBudget(share=0.5)),
        ("1", MemoryBudget(share=1.0)),
        ("40%", MemoryBudget(share=0.4)),
    ],
)
def test_a_budget_is_a_size_or_a_share(text: str, budget: MemoryBudget) -> None:
    assert MemoryBudget.parse(text) == budget


def test_a_budget_in_bytes_on_a_device() -> None:
    assert MemoryBudget(share=0.5).resolve(1000) == 500
    assert MemoryBudget(bytes=300).resolve(1000) == 300
    assert MemoryBudget(bytes=3000).resolve(1000) == 1000


@given(st.text(max_size=12), st.integers(0, 2**40))
def test_whatever_is_read_as_a_budget_never_exceeds_the_device(text: str, free: int) -> None:
    try:
        budget = MemoryBudget.parse(text)
    except ValueError:
        return
    assert 0 <= budget.resolve(free) <= free
