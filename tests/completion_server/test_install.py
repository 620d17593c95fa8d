"""scripts/install in an environment that is there already, with a pip that only speaks."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FAKE_PYTHON = """#!/bin/sh
case "$*" in
*--version*) ;;
*lock.txt*)
    echo "Requirement already satisfied: a in b"
    echo "Downloading c"
    exit "$PIP_EXIT_CODE" ;;
*) echo "this checkout" ;;
esac
"""


@pytest.mark.parametrize(("code", "then"), [(0, "this checkout\n"), (3, "")])
def test_only_what_pip_does_is_shown_and_its_exit_code_kept(tmp_path: Path, code: int, then: str) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    done = subprocess.run(
        [str(ROOT / "scripts/install"), str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PIP_EXIT_CODE": str(code)},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout == f"setup: bringing packages to the pinned versions\nDownloading c\n{then}"
