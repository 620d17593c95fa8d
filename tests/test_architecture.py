"""The directions of imports that ARCHITECTURE.md promises, read from the sources, lazy imports included.

lsp → completion_server.{client, protocol, errors}      completion_server → speculative → torch
transformers only in completion_server/models           lsp and bench only from completion_server/cli*.py
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("completion_server", "speculative", "lsp", "bench")
HEAVY = {"torch", "transformers", "numpy"}
FRONT_END_ONLY = {"typer", "rich", "pygls", "lsprotocol", "platformdirs"}


@dataclass(frozen=True)
class Import:
    """`at_import` is false inside functions and under TYPE_CHECKING."""

    module: str
    at_import: bool


@cache
def modules() -> dict[str, Path]:
    """Every module of the project by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports_of(module: str) -> frozenset[Import]:
    return frozenset(_imports(ast.parse(modules()[module].read_text(encoding="utf-8")), at_import=True))


def _imports(node: ast.AST, at_import: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import():
                yield from (Import(alias.name, at_import) for alias in child.names)
            case ast.ImportFrom():
                assert child.level == 0, "imports are absolute here, so that this test can read them"
                assert child.module is not None
                yield Import(child.module, at_import)
                for alias in child.names:
                    if f"{child.module}.{alias.name}" in modules():
                        yield Import(f"{child.module}.{alias.name}", at_import)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from _imports(child, at_import=False)
            case ast.If() if "TYPE_CHECKING" in ast.dump(child.test):
                yield from _imports(child, at_import=False)
            case _:
                yield from _imports(child, at_import)


def top(module: str) -> str:
    return module.partition(".")[0]


def within(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def loaded_by(module: str) -> set[str]:
    """What `import module` loads: project modules by full name, others by the name of their package."""
    seen: set[str] = set()
    pending = [module]
    while pending:
        name = pending.pop()
        if top(name) not in PACKAGES:
            seen.add(top(name))
            continue
        if name in seen:
            continue
        seen.add(name)
        parts = name.split(".")
        pending += [".".join(parts[:length]) for length in range(1, len(parts))]
        if name in modules():
            pending += [found.module for found in imports_of(name) if found.at_import]
    return seen


def test_the_sources_are_found() -> None:
    assert {top(module) for module in modules()} >= {"completion_server", "speculative", "lsp"}
    assert Import("torch", True) in imports_of("completion_server.models.device")


def test_the_front_end_knows_the_client_the_protocol_and_the_errors_only() -> None:
    for module in modules():
        if within(module, "lsp"):
            for found in imports_of(module):
                assert top(found.module) not in {"speculative", "bench", "tokenizers", *HEAVY}, (module, found)
                if top(found.module) == "completion_server" and found.module != "completion_server":
                    allowed = ("completion_server.client", "completion_server.protocol", "completion_server.errors")
                    assert within(found.module, *allowed), (module, found)


def test_only_the_command_line_reaches_the_front_end_and_the_benchmarks_and_only_when_asked() -> None:
    for module in modules():
        for found in imports_of(module):
            if top(found.module) in {"lsp", "bench"} and top(module) not in {top(found.module), "bench"}:
                assert within(module, "completion_server")
                assert module.startswith("completion_server.cli"), (module, found)
                assert not found.at_import, (module, found)


def test_speculative_could_be_published_alone() -> None:
    allowed = {"torch", "speculative", *sys.stdlib_module_names}
    for module in modules():
        if within(module, "speculative"):
            for found in imports_of(module):
                assert top(found.module) in allowed, (module, found)


def test_transformers_is_imported_only_where_models_are_loaded() -> None:
    for module in modules():
        if top(module) != "bench" and not within(module, "completion_server.models"):
            assert "transformers" not in {top(found.module) for found in imports_of(module)}, module


def test_nothing_imports_the_tests() -> None:
    for module in modules():
        assert not {top(found.module) for found in imports_of(module)} & {"tests", "pytest", "hypothesis"}, module


TORCH_FREE = (
    "completion_server.backend",
    "completion_server.choice",
    "completion_server.cli",
    "completion_server.client",
    "completion_server.doctor",
    "completion_server.ending",
    "completion_server.engine.job",
    "completion_server.engine.pair_loader",
    "completion_server.engine.resident",
    "completion_server.engine.scheduler",
    "completion_server.engine.switch",
    "completion_server.engine.thread",
    "completion_server.errors",
    "completion_server.prefix",
    "completion_server.kv.slots",
    "completion_server.pairs",
    "completion_server.prompts",
    "completion_server.protocol",
    "completion_server.pull",
    "completion_server.scripted",
    "completion_server.server",
    "completion_server.settings",
    "completion_server.tokenization",
    "lsp.server",
)


@pytest.mark.parametrize("module", TORCH_FREE)
def test_what_needs_no_tensors_loads_no_torch(module: str) -> None:
    assert module in modules()
    assert not loaded_by(module) & HEAVY


def test_the_engine_runs_where_only_its_own_packages_are() -> None:
    """A rented GPU machine has torch, transformers, tokenizers, msgpack and numpy, and nothing can be installed."""
    engine = ("models", "kv", "engine", "prompts", "tokenization", "ending", "protocol", "errors", "backend", "pull")
    for module in modules():
        if within(module, *(f"completion_server.{name}" for name in engine)):
            assert not loaded_by(module) & FRONT_END_ONLY, module


@pytest.mark.parametrize("code", ["import lsp.server", "import completion_server.cli as c; c.build()"])
def test_a_process_of_the_front_end_really_loads_nothing_heavy(code: str) -> None:
    report = f"{code}; import sys; print(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == ""
