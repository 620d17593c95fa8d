"""Secrets: no completion, and none of their text to the engine, to a log or to a trace."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lsp.exclude import Excluder
from lsp.fake_engine import FakeEngine

SECRET = "hunter2-very-secret"
KEY = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "path",
    [
        "/p/.env",
        "/p/.env.local",
        "/p/prod.env",
        "/home/u/.ssh/id_rsa",
        "/home/u/.ssh/config",
        "/p/ID_RSA",
        "/p/id_ed25519",
        "/p/server.PEM",
        "/p/tls.key",
        "/p/store.p12",
        "/home/u/.netrc",
        "/home/u/.npmrc",
        "/home/u/.pypirc",
        "/home/u/.git-credentials",
        "/home/u/.aws/credentials",
        "/home/u/.aws/sso/cache/x.json",
        "/home/u/.kube/config",
        "/home/u/.docker/config.json",
        "/p/kubeconfig",
        "/p/terraform.tfvars",
        "/p/secrets.yml",
        "/p/app-secrets.yaml",
        "/p/credentials.json",
        "C:\\p\\.Env",
        "/p/mit leerzeichen/.env",
        "/p/ünï/secret.toml",
    ],
)
def test_paths_of_secrets(path: str) -> None:
    assert Excluder().by_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "/p/app.py",
        "/p/secrets.py",
        "/p/environment.py",
        "/p/keys.ts",
        "/p/config.json",
        "/.env.d/app.py",
        "/p/credentials.go",
    ],
)
def test_paths_of_code(path: str) -> None:
    assert not Excluder().by_path(path)


@pytest.mark.parametrize(
    ("pattern", "path", "secret"),
    [
        ("*.internal", "/p/a.INTERNAL", True),
        ("vault/*", "/p/vault/deep/a.py", True),
        ("vault/*", "/p/vault.py", False),
        ("conf/prod.yaml", "/p/conf/prod.yaml", True),
        ("conf/prod.yaml", "/p/prod.yaml", False),
        ("**/private/**", "/p/private/a.py", True),
        ("[", "/p/a.py", False),
    ],
)
def test_patterns_of_a_person(pattern: str, path: str, secret: bool) -> None:
    assert Excluder((pattern,)).by_path(path) is secret


def test_private_keys_are_known_by_their_text() -> None:
    assert Excluder().by_text(KEY)
    assert Excluder().by_text(f"x = 1\n  {KEY}")
    assert Excluder().by_text('K = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIBAAKCAQEA7"')
    assert Excluder().by_text("-----BEGIN PGP PRIVATE KEY BLOCK-----\n")
    assert not Excluder().by_text('if head == "-----BEGIN RSA PRIVATE KEY-----":')
    assert not Excluder().by_text("-----BEGIN CERTIFICATE-----\n")


async def test_secrets_never_leave(
    start_editor: Callable[..., Awaitable[Any]], engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="lsp")
    engine.say = lambda _: "x"
    editor = await start_editor(engine)
    editor.server.warmer._rest = 0.0
    await editor.initialize({"trace": True, "exclude": ["*.internal"]})
    await editor.connected()
    documents = {
        "file:///project/.env": f"PASSWORD={SECRET}",
        "file:///project/%2Eenv.local": f"PASSWORD={SECRET}",
        "file:///project/keys/id_rsa": KEY,
        "file:///project/a.internal": SECRET,
        "untitled:Untitled-1": KEY,
    }
    for uri, text in documents.items():
        editor.open(text, uri=uri)
        editor.insert(0, 0, SECRET, uri=uri)
        editor.insert(0, 0, "\n", uri=uri)
        for invoked in (False, True):
            assert await editor.ghost(0, 0, uri=uri, invoked=invoked) is None
        editor.close_document(uri=uri)
    editor.open("x = ")
    assert await editor.ghost(0, 4) == "x"
    assert [context.path for context in engine.asked] == ["app.py"]
    assert SECRET not in repr((engine.asked, engine.warmed, editor.sent))
    assert SECRET not in caplog.text


async def test_a_key_that_is_pasted_later_ends_completion(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1"
    editor.open("x = ")
    assert await editor.ghost(0, 4) == "1"
    editor.insert(0, 0, KEY)
    assert await editor.ghost(3, 4) is None
    assert len(engine.asked) == 1
