"""The llama.cpp peer against a server that answers as the documented one: `/tokenize` and `/completion`."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from bench.peers import Clock, make_peer
from completion_server.errors import SettingsError
from completion_server.settings import EngineSettings

Asked = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def llama() -> Iterator[tuple[str, Asked]]:
    """The URL of a server whose tokens are code points, and what it was asked."""
    asked: Asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, body))
            if self.path == "/tokenize":
                reply: dict[str, Any] = {"tokens": [ord(char) for char in body["content"]]}
            else:
                tokens = [ord("y")] * body["n_predict"] if body.get("return_tokens") else []
                reply = {"content": "y" * body["n_predict"], "tokens": tokens, "stop": True, "timings": {}}
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_llama_server(llama):
    url, asked = llama
    peer = make_peer(url + "/", EngineSettings(), threads=1)
    assert peer.decode("ab", 3) == [ord("y")] * 3
    peer.first("ab")
    peer.cold("abcdef", 4)
    completions = [body for path, body in asked if path == "/completion"]
    assert [body["n_predict"] for body in completions] == [1, 1, 3, 1, 1, 1], "the first of each fills the cache"
    assert [body["cache_prompt"] for body in completions] == [True] * 5 + [False]
    assert completions[-1]["prompt"] == [ord(char) for char in "abcd"]
    assert all(body["temperature"] == 0 and body["ignore_eos"] for body in completions)
    summary = peer.summary()
    assert all(summary[name] > 0 for name in ("tokens_per_s", "warm_ttft_ms", "inside_line_ttft_ms", "cold_ttft_ms"))


@pytest.mark.parametrize("name", ["vllm", "http://192.0.2.1:8080", "file:///etc/passwd"])
def test_peers_that_are_none_or_elsewhere_are_refused(name):
    with pytest.raises(SettingsError, match="on this machine"):
        make_peer(name, EngineSettings(), threads=1)


def test_a_draft_that_transformers_does_not_know_is_no_assistant(embedded_model):
    peer = make_peer("transformers", EngineSettings(), threads=1)
    assert set(peer.summary()["tokens_per_s_by_mode"]) == {"plain", "prompt-lookup"}


def test_a_clock_by_hand():
    clock = Clock()
    clock.add(10, 2.0)
    clock.add(20, 1.0)
    clock.warm_ttft_ms += [3.0, 1.0, 2.0]
    assert clock.summary() == {
        "tokens_per_s": 10.0,
        "warm_ttft_ms": 2.0,
        "inside_line_ttft_ms": None,
        "cold_ttft_ms": None,
    }
