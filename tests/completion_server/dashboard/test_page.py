"""The page in a real browser: it fills itself, and complains of nothing. Runs where Chromium is installed."""

import html
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from completion_server.folders import numbers_file
from completion_server.numbers.records import DraftRecord, EventRecord, KeyRecord, Record, RequestRecord, TraceRecord
from completion_server.numbers.store import Store

SOON = 60


@pytest.fixture(scope="module")
def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium is installed: apt-get install chromium")


@pytest.fixture
def address() -> Iterator[str]:
    """Of a dashboard in a process of its own."""
    command = [sys.executable, "-m", "completion_server", "dashboard", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[0]
        finally:
            process.terminate()


def seen(browser: str, address: str, profile: Path, *, refused: bool = False) -> dict[str, str]:
    """The text of every part of the page that has a name, as it is after a while.

    Fails on a word in the console, but for the browser's own about answers that were `refused`.
    """
    command = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
        "--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom", address,
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=SOON, check=True)
    words = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert [line for line in words if not (refused and "403 (Forbidden)" in line)] == []
    parts = re.split(r'<[^>]* id="(\w+)"', run.stdout)
    return {
        name: html.unescape(re.sub(r"<[^>]*>", " ", part.partition(">")[2]))
        for name, part in zip(parts[1::2], parts[2::2], strict=True)
    }


def stored(*records: Record) -> None:
    store = Store(numbers_file())
    for record in records:
        store.add(record)
    store.close()


def test_every_part_of_the_page_is_filled(browser: str, address: str, tmp_path: Path) -> None:
    now = time.time() - 60
    stored(
        *(
            KeyRecord(now, "vim", "p", "python", outcome, 5, 97.0, 30.0, 21, 2, 3, 1, 4, 0.5, 6)
            for outcome in ("engine", "from-cache", "empty")
        ),
        RequestRecord(now, "lsp", "p", "python", "completed", 100, 90, 10, 8, 4, 3, 4, 1, 11, 15, 203),
        *(EventRecord(now, "vim", "p", "python", kind, 5) for kind in ("shown", "shown", "accepted")),
        DraftRecord(now, "p", "python", "n-gram", 0, 40, 30),
        DraftRecord(now, "p", "python", "model", 0, 1, 1),
        TraceRecord(now, "p", "python", 203.0, '[["key", 1.0], ["tokenized", 202.0]]', 199.0),
        TraceRecord(now + 1, "p", "go", 220.0, '[["prefill", 90.0], ["round 1: a", 60.0], ["round 2: b", 70.0]]', 0.0),
    )
    page = seen(browser, address, tmp_path)
    assert page["state"].split()[:2] == ["3", "keys"]
    for text in ("50 %", "accepted of 2 shown", "97 ms", "15 ms", "90 %", "75 %"):
        assert text in page["tiles"]
    assert "from the engine" in page["live"]
    assert "100 %" in page["acceptance"]
    assert "150 ms" in page["latency"]
    assert "n-gram" in page["drafters"]
    assert "model" not in page["drafters"], "one draft is no share"
    for text in ("key", "21 ms", "until there is text", "painted", "6 ms"):
        assert text in page["spent"]
    for text in ("key: 1 ms", "tokenized: 202 ms", "mostly tokenized (202 ms)", "on the screen after 199 ms", "editor"):
        assert text in page["slow"]
    assert "mostly 2 rounds (130 ms)" in page["slow"]
    assert "python" in page["groups"]


def test_without_numbers_every_part_says_so(browser: str, address: str, tmp_path: Path) -> None:
    page = seen(browser, address, tmp_path)
    assert page["state"].split()[:2] == ["0", "keys"]
    for name in ("live", "acceptance", "latency", "drafters", "spent", "slow"):
        assert len(page[name].split()) > 3
    assert "NaN" not in "".join(page.values())
    assert "undefined" not in "".join(page.values())


def test_without_the_token_the_page_says_what_to_do(browser: str, address: str, tmp_path: Path) -> None:
    page = seen(browser, address.partition("#")[0], tmp_path, refused=True)
    assert "open the address that `foretype dashboard` printed" in page["state"]
