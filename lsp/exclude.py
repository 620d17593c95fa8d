"""Which files are secrets by their path: their text is never completed, sent, quoted or logged.

Any letter case, any folder. Pure; the rim asks before it builds anything from a document. What a text itself gives away
is known by `keys`.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from lsp.globs import Glob, parse_glob, split_path

SECRET_NAMES = (
    # environment files
    ".env*",
    "*.env",
    ".flaskenv",
    ".renviron",
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
    "netrc",
    ".npmrc",
    ".yarnrc*",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".htpasswd",
    "htpasswd",
    ".dockercfg",
    ".vault-token",
    ".vault?pass*",
    "vault?pass",
    "vault?password",
    ".s3cfg",
    ".boto",
    ".terraformrc",
    "terraform.rc",
    "rclone.conf",
    "credentials",
    "service-account*.json",
    "service_account*.json",
    "*-adminsdk-*.json",
    "client_secret*.json",
    "local.settings.json",
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
    # what was typed into shells and databases
    ".*_history",
    # in their folders
    ".docker/config.json",
    ".config/gh/hosts.yml",
)
"""Globs of file names, or of the ends of paths."""

SECRET_FOLDERS = (
    ".env/*",
    ".envs/*",
    ".ssh/*",
    ".aws/*",
    ".azure/*",
    ".gnupg/*",
    ".kube/*",
    ".config/gcloud/*",
    ".password-store/*",
)
"""Globs of folders that hold little else, with all below them."""

_DATA = ("yml", "yaml", "json", "toml", "ini", "cfg", "conf", "properties", "xml", "txt", "csv", "env", "enc")
_STEMS = ("credentials", "secret", "secrets", "password", "passwords")
"""What a data file is called that holds secrets, also with a word and `-` or `_` in front; `secrets.py` is code."""

_DATA_FOLDERS = ("secret", "secrets", ".secret", ".secrets", "credentials", ".credentials")
"""Folders in which data files, and those without an extension, are secrets."""

_COPIES = (".local", ".bak", ".backup", ".old", ".orig", ".save", ".swp", ".tmp", ".txt", ".enc", "~")
_STAGES = (".production", ".prod", ".staging", ".development", ".dev", ".test")
"""Ends of names that leave a secret one: `prod.env.bak`, `app.env.staging`."""


class Excluder:
    """`patterns` of the user's settings come on top of the built-in ones; they cannot take one away.

    A pattern that `parse_glob` refuses is left out: `settings` has told of it.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._globs = [glob for pattern in patterns for glob in _usable(pattern)]
        self._names = [glob for pattern in SECRET_NAMES for glob in parse_glob(pattern)]
        self._folders = [glob for pattern in SECRET_FOLDERS for glob in parse_glob(pattern)]

    def excludes(self, path: str) -> bool:
        """Whether the file at `path` holds secrets; the path is percent-decoded, with `/` or `\\` between its parts."""
        parts = split_path(path)
        if not parts:
            return False
        if any(glob.matches(parts) for glob in (*self._globs, *self._folders)):
            return True
        folders = parts[:-1]
        return any(self._is_secret(folders, name) for name in _without_copy_ends(parts[-1]))

    def _is_secret(self, folders: Sequence[str], name: str) -> bool:
        stem, dot, extension = name.rpartition(".")
        if not dot or extension in _DATA:
            if any(folder in _DATA_FOLDERS for folder in folders):
                return True
            if dot and any(_is_secret_stem(part) for part in stem.split(".")):
                return True
        return any(glob.matches_file([*folders, name]) for glob in self._names)


def _is_secret_stem(stem: str) -> bool:
    return any(fnmatchcase(stem, pattern) for word in _STEMS for pattern in (word, f"*-{word}", f"*_{word}"))


def _without_copy_ends(name: str) -> Iterator[str]:
    """`name`, and what is left of it as its ends that mark a copy come off one by one."""
    yield name
    while end := next((end for end in (*_COPIES, *_STAGES) if name.endswith(end) and name != end), ""):
        name = name.removesuffix(end)
        yield name


def _usable(pattern: str) -> tuple[Glob, ...]:
    try:
        return parse_glob(pattern)
    except ValueError:
        return ()
