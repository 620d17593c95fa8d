"""The demonstration on an engine by script, on a terminal and without one."""

import io

import pytest
from rich.console import Console

from bench import demo
from completion_server.errors import EngineUnavailable, ModelError


def run(command, keys, terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=110, height=60)
    demo.main(console=console, keys=keys, engine_command=command)
    return out.getvalue()


def test_without_a_terminal_there_is_a_line_for_each_key(scripted_command):
    command = scripted_command("--exit-with-parent", rules=[{"match": "def k", "text": "eys(text):\n"}], load_ms=30)
    lines = run(command, 6, terminal=False).splitlines()
    typed = [line for line in lines if "«" in line]
    assert len(typed) == 6
    assert typed[4].endswith("def k«eys(text):»")
    assert "typed through" in typed[5]
    assert typed[5].endswith("def ke«ys(text):»")
    assert "ready" in lines
    assert not any("\x1b" in line for line in lines)
    assert any("runtimepath" in line for line in lines)


def test_on_a_terminal_the_ghost_is_grey_behind_the_cursor(scripted_command):
    command = scripted_command("--exit-with-parent", rules=[{"match": "def k", "text": "eys(text):\n"}])
    out = run(command, 6, terminal=True)
    assert "▏\x1b[3;90meys(text):\x1b[0m" in out
    assert "first token (TTFT)" in out
    assert "runtimepath" in out


def test_what_kept_the_engine_from_starting_is_raised(scripted_command):
    with pytest.raises(ModelError, match="pull it"):
        run(scripted_command("--exit-with-parent", load_error="pull it"), 3, terminal=True)


def test_no_suggestion_at_all_is_a_failure(scripted_command):
    with pytest.raises(EngineUnavailable, match="nothing"):
        run(scripted_command("--exit-with-parent", rules=[]), 3, terminal=False)


def test_a_key_that_fails_is_a_failure(scripted_command):
    with pytest.raises(EngineUnavailable, match="error"):
        run(scripted_command("--exit-with-parent", rules=[{"error": "request"}]), 3, terminal=False)


def test_the_scene_is_a_real_file_that_ships():
    scene = demo.scene()
    text = scene.path.read_text()
    assert text.startswith(scene.before + "".join(scene.keys))
    assert text.endswith(scene.after)
    assert 60 <= len(scene.keys) <= 100
    assert len(scene.before) > 900
