import json
from pathlib import Path

import pytest

from speculative.distill.licence import UNKNOWN, Licences, by_text, is_permissive

MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining\na copy of this software"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 AND BSD-3-Clause", True),
        ("(MIT AND Zlib)", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND MPL-2.0", False),
        ("GPL", False),
        (UNKNOWN, False),
        ("MITRE", False),
    ],
)
def test_what_is_permissive(expression: str, allowed: bool) -> None:
    assert is_permissive(expression) == allowed


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (MIT, "MIT"),
        ("GNU GENERAL PUBLIC LICENSE\nVersion 3", "GPL"),
        ("PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2 … Permission is hereby granted, free of charge", "PSF-2.0"),
        ("Redistribution and use in source and binary forms … Neither the name of", "BSD-3-Clause"),
        ("All rights reserved.", UNKNOWN),
    ],
)
def test_a_licence_is_known_by_its_words(text: str, licence: str) -> None:
    assert by_text(text) == licence


def test_the_nearest_licence_counts(tmp_path: Path) -> None:
    write(tmp_path / "LICENSE", MIT)
    write(tmp_path / "vendor/package.json", json.dumps({"license": "ISC"}))
    inner = write(tmp_path / "vendor/lib/index.js", "")
    outer = write(tmp_path / "lib/main.js", "")
    licences = Licences()
    assert licences.of(inner) == "ISC"
    assert licences.of(outer) == "MIT"


def test_an_installed_distribution_has_the_licence_of_its_metadata(tmp_path: Path) -> None:
    write(tmp_path / "LICENSE", MIT)
    packages = tmp_path / "lib/site-packages"
    write(packages / "one-1.0.dist-info/METADATA", "Name: one\nLicense-Expression: Apache-2.0\n\nText.")
    write(packages / "one-1.0.dist-info/RECORD", "one/__init__.py,sha256=x,1\none-1.0.dist-info/METADATA,,\n")
    classifier = "Classifier: License :: OSI Approved :: GNU General Public License (GPL)"
    write(packages / "two-1.0.dist-info/METADATA", f"Name: two\n{classifier}\n")
    write(packages / "two-1.0.dist-info/RECORD", "two.py,sha256=x,1\n")
    licences = Licences()
    assert licences.of(packages / "one/deep/inside.py") == "Apache-2.0"
    assert licences.of(packages / "two.py") == UNKNOWN
    assert licences.of(packages / "nobody/knows.py") == UNKNOWN, "what is above a folder of packages is not theirs"


def test_nothing_said_is_unknown(tmp_path: Path) -> None:
    assert Licences().of(write(tmp_path / "a.py", "")) == UNKNOWN
