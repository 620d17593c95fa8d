"""Which documents are secrets: their text is never completed, sent, quoted or logged.

Judges by path (any letter case, any folder) and by what the text begins with. Pure; the rim asks before it builds
anything from a document.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate

SECRET_PATTERNS = (
    # environment files
    ".env*",
    "*.env",
    ".envrc",
    # keys and key stores
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.ppk",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.asc",
    "*.gpg",
    "*.pgp",
    "*.age",
    # log-in files of tools
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc*",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".s3cfg",
    ".boto",
    "credentials",
    "service-account*.json",
    "service_account*.json",
    "client_secret*.json",
    "auth.json",
    "*.tfvars",
    "*.tfvars.json",
    "*.tfstate",
    "*.tfstate.*",
    "secrets",
    "*.secret",
    "*.secrets",
    "kubeconfig*",
    "*.kubeconfig",
    "shadow",
    "gshadow",
    # folders that hold little else
    ".ssh/*",
    ".aws/*",
    ".azure/*",
    ".gnupg/*",
    ".kube/*",
    ".docker/config.json",
    ".config/gcloud/*",
    ".password-store/*",
)
"""Globs. One without `/` matches a file name, one with `/` the end of a path or, with a trailing `/*`, all below it."""

_DATA = ("yml", "yaml", "json", "toml", "ini", "cfg", "conf", "properties", "xml", "txt", "env", "enc")
_DATA_STEMS = ("credentials", "*-credentials", "secret", "secrets", "*-secret", "*-secrets", "*_secret", "*_secrets")
"""Stems that hold secrets in a data file; `secrets.py` is code."""

_MARKS = ("PRIVATE KEY", "PuTTY-User-Key-File-", "AGE-SECRET-KEY-")
_KEY = re.compile(
    r"^\s*-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----"  # a key file
    r"|-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----(\\[rn]|\s)*[A-Za-z0-9+/]{16}"  # a key within a string
    r"|^PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Excluder:
    """`patterns` of the user's settings come on top of the built-in ones; they cannot take one away."""

    patterns: tuple[str, ...] = ()

    def by_path(self, path: str) -> bool:
        """Whether the file at `path` holds secrets; the path is percent-decoded, with `/` or `\\` between its parts."""
        parts = path.replace("\\", "/").casefold().strip("/").split("/")
        stem, _, extension = parts[-1].rpartition(".")
        if extension in _DATA and any(_like(stem, pattern) for pattern in _DATA_STEMS):
            return True
        return any(_matches(parts, pattern) for pattern in (*SECRET_PATTERNS, *self.patterns))

    def by_text(self, text: str) -> bool:
        """Whether `text` holds a private key."""
        return any(mark in text for mark in _MARKS) and _KEY.search(text) is not None


def _matches(parts: Sequence[str], pattern: str) -> bool:
    wanted = pattern.replace("\\", "/").casefold().strip("/").split("/")
    if wanted[0] == "**":
        wanted = wanted[1:]
    if len(wanted) == 1:
        return _like(parts[-1], wanted[0])
    if wanted[-1] in ("*", "**"):
        folder = wanted[:-1]
        return any(_all_like(parts[at : at + len(folder)], folder) for at in range(len(parts) - len(folder)))
    return len(parts) >= len(wanted) and _all_like(parts[-len(wanted) :], wanted)


def _all_like(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    return all(_like(part, pattern) for part, pattern in zip(parts, patterns, strict=True))


def _like(name: str, pattern: str) -> bool:
    return re.match(translate(pattern), name) is not None
