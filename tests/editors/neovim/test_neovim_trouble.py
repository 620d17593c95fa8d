"""Cold starts, engines and servers that end, and what a person is told of it."""

import os
import subprocess
import time

import pytest

_REPORT = """
vim.cmd('checkhealth foretype')
return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')
"""
_CHILDREN = "return vim.api.nvim_get_proc_children(vim.uv.os_getpid())"
_SERVER = "local client = require('foretype.client').get() return client and client.id or 0"


def _messages(editor):
    lines = editor.lua("return vim.fn.execute('messages')").splitlines()
    return [line for line in lines if "Foretype" in line]


@pytest.fixture
def process(scripted_command):
    """Starts and ends engines as processes, with the same script."""
    running = []

    def start(**script):
        running.append(subprocess.Popen(scripted_command(**script), stderr=subprocess.DEVNULL))
        return running[-1]

    yield start
    for engine in running:
        engine.kill()
        engine.wait()


def test_cold(new_editor, engine):
    """seq-cold: the person sees that it loads, the editor does not wait, the suggestion comes without another key"""
    engine.backend.may_load.clear()
    engine.say("1\n")
    editor = new_editor()
    editor.set_up()
    editor.open("x =⟦|⟧", wait=False)
    editor.wait_lua("return require('foretype.status').get().phase == 'loading'")
    editor.keys("a ")
    assert editor.text() == "x = "
    assert editor.lua("return require('foretype').status()") == "foretype 42%"
    engine.backend.may_load.set()
    editor.wait_ghost("1")
    assert editor.lua("return require('foretype').status()") == "foretype"
    assert _messages(editor) == []


def test_engine_dies(new_editor, process):
    """seq-engine-dies: one message, not one per key, and it works again"""
    engine = process(rules=[{"text": "1\n", "delay_ms": 5000}])
    editor = new_editor()
    editor.set_up()
    editor.open("x =⟦|⟧")
    editor.keys("a ")
    editor.settle()
    engine.kill()
    engine.wait()
    killed = time.monotonic()
    editor.wait_lua("return require('foretype').status()", wanted="foretype !")
    assert time.monotonic() - killed < 5
    assert editor.lua("return require('foretype.status').get().detail") != ""
    for key in "abcdef":
        editor.keys(key)
        editor.settle()
    assert len(_messages(editor)) == 1
    process(rules=[{"text": "1\n"}])
    editor.wait_ghost("1")
    assert editor.lua("return require('foretype').status()") == "foretype"
    assert len(_messages(editor)) == 1


def test_the_language_server_ends_and_is_started_again(new_editor, engine):
    engine.say("1\n")
    editor = new_editor()
    editor.set_up()
    editor.open("x =⟦|⟧")
    editor.keys("a ")
    editor.wait_ghost("1")
    server = editor.lua(_SERVER)
    editor.lua("return require('foretype.client').get().rpc.terminate()")
    editor.wait_lua(_SERVER, wanted=0)
    editor.wait_lua(_SERVER, wanted=server + 1)
    editor.wait_ready()
    editor.keys("<Esc>ccy = ")
    editor.wait(lambda frame: frame.rows[0].startswith("y = ") and frame.ghost_text == "1")
    assert len(_messages(editor)) == 1


def test_no_language_server_to_be_found(new_editor):
    editor = new_editor()
    editor.lua("require('foretype').setup({ cmd = { '/nowhere/foretype', 'lsp' } })")
    editor.open("x = 1", wait=False)
    editor.open("y = 1", name="b.py", wait=False)
    editor.keys("ax<Esc>")
    editor.settle()
    assert editor.lua("return require('foretype.status').get().phase") == "missing"
    assert len(_messages(editor)) == 1
    report = editor.lua(_REPORT)
    assert "ERROR" in report
    assert "pipx install" in report


def test_the_health_check_names_each_hop(editor):
    editor.open("x = 1")
    report = editor.lua(_REPORT)
    for hop in ("editor: Neovim", "plugin: set up", "language server: "):
        assert hop in report


def test_leaving_neovim_leaves_no_server_behind(new_editor, engine):
    engine.say("")
    editor = new_editor()
    editor.set_up()
    editor.open("x = 1")
    servers = editor.lua(_CHILDREN)
    assert servers
    editor.close()
    deadline = time.monotonic() + 20
    while any(map(_runs, servers)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
