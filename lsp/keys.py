"""Whether a text holds a private key or a token, however it is quoted, commented or broken into lines.

A scan for the first lines of keys and long runs of base64 near them. A text that only names such a line holds none.
Linear in the text's length. Pure.
"""

import re

REACH = 500
"""Code points between the first or last line of a key and its body, where headers and comments may stand."""

NEIGHBOURHOOD = 2 * REACH
"""A change further away than this can't make or unmake a key."""

_LONG = 40  # base64 characters in a row that are no name
_SHORT = 16  # the same right behind a first line
_FIRST_COLUMNS = 200  # of a line, in which a key may be indented

_PEM = re.compile(
    r"-{3,5} ?(?P<side>BEGIN|END) [A-Z0-9 ]{0,48}PRIVATE KEY(?: BLOCK)?"
    rf"|(?P<body>[A-Za-z0-9+/]{{{_SHORT},}})"
)
_CLASSES = tuple(re.compile(kind) for kind in ("[A-Z]", "[a-z]", "[0-9]"))

_TOKENS = {
    "PuTTY-User-Key-File-": r"PuTTY-User-Key-File-\d: ?(ssh|ecdsa)-",
    "AGE-SECRET-KEY-1": r"AGE-SECRET-KEY-1[A-Z0-9]{16}",
    "ghp_": r"ghp_[A-Za-z0-9]{36}",
    "gho_": r"gho_[A-Za-z0-9]{36}",
    "github_pat_": r"github_pat_[A-Za-z0-9_]{36}",
    "xoxb-": r"xoxb-[0-9]{8}[A-Za-z0-9-]{20}",
    "xoxp-": r"xoxp-[0-9]{8}[A-Za-z0-9-]{20}",
    "sk-": r"\bsk-([a-z]+[0-9]*-){0,2}[A-Za-z0-9_]{32}",
    "aws_secret_access_key": r"aws_secret_access_key[\"' \t:=]{1,10}[A-Za-z0-9/+]{40}",
    "AWS_SECRET_ACCESS_KEY": r"AWS_SECRET_ACCESS_KEY[\"' \t:=]{1,10}[A-Za-z0-9/+]{40}",
}
"""What a token begins with, and its whole shape."""


def holds_key(text: str) -> bool:
    """Whether `text`, which begins at a line start, holds a private key or a well-known kind of token."""
    if "PRIVATE KEY" in text and _holds_pem(text):
        return True
    return any(start in text and re.search(shape, text) for start, shape in _TOKENS.items())


def _holds_pem(text: str) -> bool:
    begin = body = -REACH - 1  # where the last first line and the last long run ended
    for found in _PEM.finditer(text):
        start = found.start()
        match found["side"]:
            case "BEGIN":
                if _begins_line(text, start):
                    return True
                begin = found.end()
            case "END":
                if start - body <= REACH:
                    return True
            case _ if _is_base64(found[0]):
                is_long = found.end() - start >= _LONG
                if start - begin <= REACH and (is_long or not text[begin:start].strip("-\\ \t\r\n")):
                    return True
                if is_long:
                    body = found.end()
    return False


def _begins_line(text: str, at: int) -> bool:
    head = text[max(0, at - _FIRST_COLUMNS) : at]
    return not head.rpartition("\n")[2].strip()


def _is_base64(run: str) -> bool:
    """Unlike a name, a path or a hash, it has letters of both cases and digits."""
    return all(kind.search(run) for kind in _CLASSES)
