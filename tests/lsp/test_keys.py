"""Private keys and tokens in a text, in all the ways in which people write them down."""

import time
from pathlib import Path

import pytest

from lsp.keys import NEIGHBOURHOOD, holds_key

BODY = "MIIEpAIBAAKCAQEA7bq" * 3
BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
LINES = (BEGIN, BODY, BODY, END)
PEM = "".join(f"{line}\n" for line in LINES)


@pytest.mark.parametrize(
    "text",
    [
        PEM,
        PEM.replace("\n", "\r\n"),
        f'x = 1\nKEY = """{PEM}"""',
        f'const key = "{BEGIN}\\n" +\n  "{BODY}\\n" +\n  "{END}";',
        f'KEY = (\n    "{BEGIN}\\n"\n    "{BODY}\\n"\n)',
        f'String[] k = {{"{BEGIN}",\n"{BODY}",\n}};',
        f"- {BEGIN}\n- {BODY}\n",
        f"key: |\n  {BEGIN}\n  {BODY}\n",
        *("".join(f"{mark} {line}\n" for line in LINES) for mark in ("#", "//", ">", "+", "--", " *")),
        f'K = "{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AAAA\n\n{BODY}"',
        f'K = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{BODY}"',
        f'{{"private_key": "{BEGIN}\\n{BODY}"}}',
        f'"{{\\"private_key\\": \\"{BEGIN}\\\\n{BODY}\\"}}"',
        f"K={BEGIN}{BODY}",
        f"k: ---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n{BODY}",
        f"k: -----BEGIN  RSA  PRIVATE KEY-----\n{BODY}",
        f"{BODY}\n{BODY}\n{END}\n",
        f'K = "{BEGIN}\\nMIIEowIBAAKCAQEA7"',  # cut short
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
        "PuTTY-User-Key-File-" + "3: ssh-ed25519\n",
        'k = "AGE-SECRET-KEY-1' + "QPZ4" * 14,
        'TOKEN = "ghp_' + "a1B2" * 9 + '"',
        "github_pat_" + "a1B2" * 10,
        'slack("xoxb-' + "1234567890-" * 2 + "abcdEFGH" * 3 + '")',
        'key="sk-proj-' + "a1B2" * 10 + '"',
        "aws_secret_access_key = " + "wJalr/Ut" * 5,
        "export AWS_SECRET_ACCESS_KEY='" + "wJalr/Ut" * 5,
    ],
)
def test_a_key(text: str) -> None:
    assert holds_key(text)
    assert holds_key(f"def f():\n    return 1\n{text}\nx = f()\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        f'if head == "{BEGIN}":\n    return load_private_key_from_pem(path)\n',
        f'if "{BEGIN}" in text: parsePKCS8PrivateKey(text)\n',
        f'START, STOP = "{BEGIN}", "{END}"  # the lines around a key\n',
        f'BEGIN = "{BEGIN}"\nSHA256 = "{"0123456789abcdef" * 4}"\n',
        f'open("/usr/local/lib/python/site/packages/certifi/cacert"); text.split("{END}")\n',
        f'BEGIN = "{BEGIN}"\n' + "x = 1\n" * NEIGHBOURHOOD + f'IMAGE = "{BODY}"\n',
        f"-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----\n",
        f"-----BEGIN PUBLIC KEY-----\n{BODY}\n-----END PUBLIC KEY-----\n",
        "# PRIVATE KEY\n" + BODY,
        'if token.startswith(("ghp_", "github_pat_", "xoxb-", "sk-")): ...',
        'disk-and-task-names, <div class="sk-folding-cube">',
        "aws_secret_access_key = os.environ['AWS_SECRET_ACCESS_KEY']",
        're.compile(r"AGE-SECRET-KEY-1[A-Z0-9]{58}|PuTTY-User-Key-File-")',
    ],
)
def test_no_key(text: str) -> None:
    assert not holds_key(text)


@pytest.mark.parametrize(
    "filling",
    ["\n", " \n", "\t", "-", "-----BEGIN ", "BEGIN A ", "PRIVATE KEY ", "\\n", "A1a", "Aa1b2c3d4e5f6g7 ", f"'{BEGIN}"],
)
def test_the_time_does_not_grow_with_the_square_of_the_length(filling: str) -> None:
    """Some seconds are hundreds of times what it takes, and far less than the square of these lengths would."""
    text = f"# PRIVATE KEY\n{filling * (1_000_000 // len(filling))}"
    began = time.process_time()
    holds_key(text)
    assert time.process_time() - began < 10


def test_this_file_only_speaks_of_keys() -> None:
    assert not holds_key(Path(__file__).read_text())
