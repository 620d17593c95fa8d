"""Under which licence a source file is, as far as the files around it say.

Looks at what stands beside a file or above it: `package.json`, the metadata of installed Python distributions, and
LICENSE or COPYING files. Gives SPDX ids where it can. The card lists what was found, for people to check.
"""

import json
import re
from email.parser import HeaderParser
from functools import lru_cache
from pathlib import Path

UNKNOWN = "unknown"

PERMISSIVE = re.compile(
    r"(MIT(-0|-CMU)?|(New |Modified |3-Clause )?BSD|BSD-[0-3]-Clause|0BSD|ISC"
    r"|Apache-2\.0( WITH LLVM-exception)?|PSF-2\.0|Python-2\.0|CNRI-Python"
    r"|Zlib|Unlicense|CC0-1\.0|BSL-1\.0|HPND|BlueOak-1\.0\.0)"
)

_TEXTS = (  # words of a licence's text, most telling first
    ("PYTHON SOFTWARE FOUNDATION LICENSE", "PSF-2.0"),
    ("GNU GENERAL PUBLIC LICENSE", "GPL"),
    ("GNU LESSER GENERAL PUBLIC LICENSE", "LGPL"),
    ("Mozilla Public License", "MPL-2.0"),
    ("Apache License", "Apache-2.0"),
    ("Neither the name of", "BSD-3-Clause"),
    ("Redistribution and use in source and binary forms", "BSD-2-Clause"),
    ("Permission is hereby granted, free of charge", "MIT"),
    ("Permission to use, copy, modify, and/or distribute this software", "ISC"),
)
_NAMES = (  # how package metadata calls them
    (r"apache.*2", "Apache-2.0"),
    (r"(psf|python software foundation)", "PSF-2.0"),
    (r"3-clause|bsd-3", "BSD-3-Clause"),
    (r"bsd", "BSD-2-Clause"),
    (r"mit( license)?$", "MIT"),
    (r"isc", "ISC"),
)


class Licences:
    """Finds licences and remembers them by folder."""

    def __init__(self) -> None:
        self._of_folder = lru_cache(maxsize=None)(self._find)
        self._of_packages = lru_cache(maxsize=None)(_installed)

    def of(self, path: Path) -> str:
        """An SPDX expression, or `UNKNOWN`."""
        for place in path.parents:
            installed = self._of_packages(place)
            if installed:  # a folder of Python distributions: what is beside its metadata belongs to one of them
                return installed.get(path.relative_to(place).parts[0], UNKNOWN)
            found = self._of_folder(place)
            if found:
                return found
        return UNKNOWN

    @staticmethod
    def _find(folder: Path) -> str:
        """What the folder itself says, "" if nothing."""
        try:
            said = json.loads((folder / "package.json").read_text(encoding="utf-8")).get("license")
        except (OSError, ValueError, AttributeError):
            said = None
        if isinstance(said, str) and said:
            return said
        texts = [path for name in ("LICENSE*", "LICENCE*", "COPYING*") for path in sorted(folder.glob(name))]
        return next((by_text(_read(path)) for path in texts if path.is_file()), "")


def is_permissive(expression: str) -> bool:
    """Whether an SPDX expression allows use under permissive terms: all parts of an AND, or one of an OR."""
    alternatives = re.split(r"\s+OR\s+", expression.strip("() "))
    return any(
        all(PERMISSIVE.fullmatch(part.strip("() ")) for part in re.split(r"\s+AND\s+", alternative))
        for alternative in alternatives
    )


def by_text(text: str) -> str:
    """The licence whose text this is, `UNKNOWN` if it is none that we know."""
    flat = " ".join(text.split())
    return next((name for words, name in _TEXTS if words.lower() in flat.lower()), UNKNOWN)


def _installed(folder: Path) -> dict[str, str]:
    """Licence by top-level name of the Python distributions whose metadata lies in `folder`."""
    found: dict[str, str] = {}
    for metadata in sorted(folder.glob("*.dist-info/METADATA")):
        licence = _declared(metadata)
        for line in _read(metadata.with_name("RECORD")).splitlines():
            found.setdefault(line.split(",")[0].split("/")[0], licence)
    return found


def _declared(metadata: Path) -> str:
    headers = HeaderParser().parsestr(_read(metadata))
    if headers["License-Expression"]:
        return str(headers["License-Expression"])
    classified = [c for c in headers.get_all("Classifier", []) if c.startswith("License ::")]
    said = [c.split(" :: ")[-1] for c in classified] or [str(headers["License"] or "").split("\n")[0]]
    named = [next((spdx for words, spdx in _NAMES if re.search(words, name.lower())), UNKNOWN) for name in said]
    return " AND ".join(dict.fromkeys(named))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
