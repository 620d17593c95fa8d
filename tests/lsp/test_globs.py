"""Globs by example, as `git check-ignore` would judge them."""

import pytest

from lsp.globs import parse_glob, split_path


@pytest.mark.parametrize(
    ("pattern", "path", "named"),
    [
        ("*.internal", "/p/a.INTERNAL", True),
        ("*.internal", "/p/a.internal.py", False),
        ("vault/*", "/p/vault/deep/a.py", True),
        ("vault/*", "/p/vault.py", False),
        ("vault/*", "/p/vault", False),
        ("conf/prod.yaml", "/p/conf/prod.yaml", True),
        ("conf/prod.yaml", "/p/prod.yaml", False),
        ("conf/prod.yaml", "/p/xconf/prod.yaml", False),
        ("private/**/*.py", "/w/private/x.py", True),
        ("private/**/*.py", "/w/private/a/b/x.py", True),
        ("private/**/*.py", "/w/private/a/b/x.js", False),
        ("src/**/secret/*.py", "/w/src/a/b/secret/x.py", True),
        ("src/**/secret/*.py", "/w/src/secret/x.py", True),
        ("src/**/secret/*.py", "/w/secret/x.py", False),
        ("**/secret/**/x.py", "/w/a/secret/b/c/x.py", True),
        ("**/private/**", "/p/private/a.py", True),
        ("**/private/**", "/p/private", False),
        ("private/", "/w/private/a/x.py", True),
        ("private/", "/w/private", False),
        ("private", "/w/private/x.py", True),
        ("/w/private/**", "/w/private/x.py", True),
        ("private\\*.py", "C:\\w\\private\\x.py", True),
        ("*.{key,py}", "/w/x.py", True),
        ("*.{key,py}", "/w/x.js", False),
        ("{a,b{c,d}}.py", "/w/bd.py", True),
        ("{a,b{c,d}}.py", "/w/b.py", False),
        ("[a-c]?.py", "/w/bx.py", True),
        ("[!a-c]?.py", "/w/bx.py", False),
        ("[", "/p/a.py", False),
        ("**", "a.py", True),
        ("**/", "/w/a.py", True),
        ("*", "a.py", True),
        ("*a" * 30 + "b", "/w/" + "a" * 200, False),  # at once
    ],
)
def test_globs(pattern: str, path: str, named: bool) -> None:
    assert any(glob.matches(split_path(path)) for glob in parse_glob(pattern)) is named


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "is empty"),
        ("/", "is empty"),
        ("!x.py", "only exclude"),
        ("a" * 5_000, "longer than"),
        ("{a,b}" * 20, "more than"),
        ("*.{py", "brace"),
        ("*.py}", "brace"),
    ],
)
def test_globs_without_a_use(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_glob(pattern)
