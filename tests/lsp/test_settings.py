"""Settings from an editor, good and bad."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp.settings import EngineSettings, Settings, read_settings


def test_nothing_gives_the_defaults() -> None:
    assert read_settings(None) == (Settings(), [])
    assert read_settings({}) == (Settings(), [])


def test_all_of_them() -> None:
    options = {
        "enabled": False,
        "pair": "qwen-7b-0.5b",
        "max_lines": 1,
        "max_tokens": 32,
        "drafting": False,
        "languages_off": ["markdown"],
        "folders_off": ["/notes"],
        "min_confidence": 0.5,
        "snippets": False,
        "stream": True,
        "events": False,
        "exclude": ["*.internal"],
        "trace": True,
        "status": True,
        "engine": {"start": False},
    }
    settings, problems = read_settings(options)
    assert problems == []
    assert settings == Settings(
        enabled=False,
        pair="qwen-7b-0.5b",
        max_lines=1,
        max_tokens=32,
        drafting=False,
        languages_off=("markdown",),
        folders_off=("/notes",),
        min_confidence=0.5,
        snippets=False,
        stream=True,
        events=False,
        exclude=("*.internal",),
        trace=True,
        status=True,
        engine=EngineSettings(start=False),
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_lines": 0}, "max_lines must be a whole number from 1 to 200"),
        ({"max_tokens": True}, "max_tokens must be a whole number"),
        ({"min_confidence": 2}, "min_confidence must be a number from 0 to 1"),
        ({"min_confidence": "high"}, "min_confidence must be a number"),
        ({"enabled": 1}, "enabled must be true or false"),
        ({"pair": ""}, "pair must be a name"),
        ({"exclude": "*.x"}, "exclude must be a list of strings"),
        ({"exclude": [1]}, "exclude must be a list of strings"),
        ({"engine": True}, "engine must be an object"),
        ({"engine": {"start": "no"}}, "engine.start must be true or false"),
        ({"engine": {"speed": 9}}, "Unknown setting engine.speed"),
        ({"colour": "red"}, "Unknown setting colour"),
        ([], "foretype must be an object"),
    ],
)
def test_a_bad_one_gives_its_default_and_one_sentence(options: Any, said: str) -> None:
    settings, [problem] = read_settings(options)
    assert settings == Settings()
    assert said in problem


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_options_raise(options: Any) -> None:
    assert isinstance(read_settings(options)[0], Settings)


def test_a_glob_without_a_use_is_told_and_the_others_stay() -> None:
    settings, problems = read_settings({"exclude": ["*.internal", "!x.py", "", "private/"]})
    assert [problem.partition(" of ")[0] for problem in problems] == ["Pattern 2", "Pattern 3"]
    assert {"*.internal", "private/"} <= set(settings.exclude)
