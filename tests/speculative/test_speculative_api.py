"""What the package promises to the outside: its names, and that it needs torch and nothing else."""

import ast
import sys
from pathlib import Path

import speculative


def test_every_exported_name_exists_once():
    assert len(set(speculative.__all__)) == len(speculative.__all__)
    for name in speculative.__all__:
        assert hasattr(speculative, name)


def test_every_public_noun_of_the_package_is_exported():
    imported = {
        alias.asname or alias.name
        for node in ast.parse(Path(speculative.__file__).read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == set(speculative.__all__)


def test_it_imports_torch_and_the_standard_library_only():
    allowed = {*sys.stdlib_module_names, "torch", "speculative"}
    for path in Path(speculative.__file__).parent.rglob("*.py"):
        if "distill" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"relative import in {path.name}"
                names = [node.module or ""]
            assert {name.split(".")[0] for name in names} <= allowed, path.name
