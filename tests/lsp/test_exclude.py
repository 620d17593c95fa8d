"""Secrets: no completion, and none of their text to the engine, to a log or to a trace."""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lsp.exclude import Excluder
from lsp.fake_engine import FakeEngine
from lsp.keys import NEIGHBOURHOOD

SECRET = "hunter2-very-secret"
BODY = "MIIEpAIBAAKCAQEA7bq" * 3
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
        "/p/app.env.local",
        "/p/prod.env.bak",
        "/p/.env~",
        "/p/dot.env.production",
        "/p/.flaskenv",
        "/p/.env/prod",
        "/p/.envs/.production/.django",
        "/p/secrets.env.yaml",
        "/p/secrets.dev.yml",
        "/p/private.pem.bak",
        "/p/key.pem.txt",
        "/p/secrets/db_password",
        "/p/secrets/prod/token.txt",
        "/p/credentials.csv",
        "/p/credentials.yml.enc",
        "/p/application_default_credentials.json",
        "/home/u/.terraformrc",
        "/home/u/.config/gh/hosts.yml",
        "/home/u/.config/rclone/rclone.conf",
        "/p/vault_pass.txt",
        "/p/.vault_pass",
        "/p/pgpass.conf",
        "/p/netrc",
        "/p/htpasswd",
        "/home/u/.bash_history",
        "/home/u/.psql_history",
    ],
)
def test_paths_of_secrets(path: str) -> None:
    assert Excluder().excludes(path)


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
        "/p/secrets/manager.py",
        "/p/vault_passthrough.go",
        "/p/src/hosts.yml",
        "/p/env.local.ts",
        "/p/requirements.txt",
        "",
    ],
)
def test_paths_of_code(path: str) -> None:
    assert not Excluder().excludes(path)


def test_patterns_of_a_person_come_on_top() -> None:
    excluder = Excluder(("*.internal", "!nothing", "private/**/*.py"))
    assert all(map(excluder.excludes, ("/p/a.internal", "/p/private/x.py", "/p/.env")))
    assert not excluder.excludes("/p/x.py")


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


@pytest.mark.parametrize("column", [0, 4, 15, 31])
async def test_a_key_is_seen_on_both_sides_of_the_cursor(editor: Any, engine: FakeEngine, column: int) -> None:
    editor.open('K = """')
    editor.insert(0, 7, f"-----BEGIN PRIVATE KEY-----\n{BODY}\n")
    assert await editor.ghost(0, 7 + column, invoked=True) is None
    assert await editor.ghost(1, column, invoked=True) is None
    assert engine.asked == []


async def test_a_key_is_seen_where_the_text_that_is_sent_begins_within_it(editor: Any, engine: FakeEngine) -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + f"{BODY}\n" * 3_000
    editor.open("x = 1\n")
    editor.insert(0, 0, key)
    assert await editor.ghost(3_001, 5) is None
    editor.change((0, 0), (1, 0), "")  # one that was seen is not forgotten
    assert await editor.ghost(3_000, 5) is None
    assert engine.asked == []


async def test_a_key_is_seen_as_soon_as_its_pieces_come_together(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1"
    editor.open(f'a = "-----BEGIN PRIV"\nb = "{BODY}"\nx = ')
    assert await editor.ghost(2, 4) == "1"
    editor.insert(0, 20, "ATE KEY")
    assert await editor.ghost(2, 4) is None


async def test_an_edit_on_a_long_line_that_names_a_key(editor: Any, engine: FakeEngine) -> None:
    engine.say = lambda _: "1"
    begin = "-----BEGIN PRIVATE KEY-----"
    editor.open(f'a = "{begin}"  # ' + "y " * NEIGHBOURHOOD + "\nx = ")
    for column in range(NEIGHBOURHOOD, NEIGHBOURHOOD + 2 * len(begin)):
        editor.insert(0, column, ";")
    assert await editor.ghost(1, 4) == "1"


async def test_a_link_to_a_secret_is_one(editor: Any, engine: FakeEngine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").symlink_to(tmp_path / ".env")
    uri = (tmp_path / "notes.txt").as_uri()
    editor.open(f"PASSWORD={SECRET}", uri=uri)
    assert await editor.ghost(0, 9, uri=uri) is None
    assert engine.asked == []


@pytest.mark.parametrize(
    "uri",
    [
        "file:///x/a#b/.env",
        "file:///x/a?b/.env",
        "file:///x/.env#L1",
        "file:///x/server.pem?raw=1",
        "file://.env",
        "file://[x/.env",
        "file:///x/%00/.env",
        "untitled:.env",
        "vscode-remote://ssh-remote%2Bhost/home/u/.env",
        "vscode-notebook-cell:/x/.env#W0",
        ".env",
    ],
)
async def test_addresses_that_clients_write_carelessly(editor: Any, engine: FakeEngine, uri: str) -> None:
    editor.open(f"PASSWORD={SECRET}", uri=uri)
    assert await editor.ghost(0, 9, uri=uri) is None
    assert engine.asked == []
    assert editor.notes("foretype/trace")[-1]["outcome"] == "excluded"
