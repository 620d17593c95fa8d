import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from speculative.distill.corpus import HELD_OUT, Source, cut, read

MIT = "Permission is hereby granted, free of charge"


def encode(text: str) -> Sequence[int]:
    """A character is a token."""
    return [ord(c) for c in text]


def source(name: str, text: str, held_out: bool = False) -> Source:
    return Source(Path(name), text, "MIT", held_out)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "LICENSE").write_text(MIT)
    for suffix in ("py", "js"):
        for number in range(30):
            (tmp_path / f"{number}.{suffix}").write_text(f"{suffix} {number}\n")
    return tmp_path


def test_files_of_the_patterns_come_in_turn_and_excluded_ones_not_at_all(folder: Path) -> None:
    patterns = [f"{folder}/*.py", f"{folder}/*.js"]
    assert [s.path.suffix for s in read(patterns, [])] == [".py", ".js"] * 30
    found = list(read(patterns, [f"{folder}/1*.py"]))
    assert len(found) == 30 - 11 + 30
    assert not any(s.path.suffix == ".py" and s.path.name.startswith("1") for s in found)


def test_the_order_follows_the_seed(folder: Path) -> None:
    orders = [[s.path.name for s in read([f"{folder}/*.py"], [], seed=seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_a_text_is_taken_once_and_held_out_by_its_hash_alone(folder: Path) -> None:
    (folder / "copies").mkdir()
    for path in folder.glob("*.py"):
        (folder / "copies" / f"copy-of-{path.name}").write_text(path.read_text())
    found = list(read([f"{folder}/**/*.py"], []))
    assert len(found) == 30
    for s in found:
        assert s.held_out == (int.from_bytes(hashlib.sha256(s.text.encode()).digest()[:4], "big") % HELD_OUT == 0)
    assert {s.held_out for s in found} == {True, False}


def test_files_under_other_licences_are_left_out_unless_asked_for(folder: Path) -> None:
    (folder / "LICENSE").write_text("GNU GENERAL PUBLIC LICENSE")
    assert list(read([f"{folder}/*.py"], [])) == []
    assert len(list(read([f"{folder}/*.py"], [], any_licence=True))) == 30


def test_what_is_no_text_is_passed_over(folder: Path) -> None:
    (folder / "0.py").write_bytes(b"\xff\xfe\x00")
    assert len(list(read([f"{folder}/*.py"], []))) == 29


def test_windows_begin_with_a_file_or_a_line() -> None:
    text = "first\n\n  indented\n" + "next line\n" * 20
    train, held_out = cut(iter([source("a", text), source("b", text, held_out=True)]), encode, 30, 10, 10)
    heads = ["".join(map(chr, row)) for row in train.tokens.tolist()]
    assert len(heads) == 3
    assert sum(head.startswith("first") for head in heads) == 1
    assert all(head.startswith(("first", "next line")) for head in heads)
    assert ["".join(map(chr, row)) for row in held_out.tokens.tolist()] == [text[:30]], "the beginning alone"
    assert [[s.path.name for s in part.sources] for part in (train, held_out)] == [["a"], ["b"]]


def test_it_reads_no_more_files_than_it_needs() -> None:
    def endless():
        for number in range(1000):
            assert number < 50
            yield source(str(number), f"{number}\n" * 50, held_out=number % 4 == 0)

    train, held_out = cut(endless(), encode, 20, 12, 5)
    assert train.tokens.shape == (12, 20)
    assert held_out.tokens.shape == (5, 20)


def test_short_files_give_nothing() -> None:
    train, held_out = cut(iter([source("a", "short"), source("b", "short", held_out=True)]), encode, 30, 10, 10)
    assert train.tokens.shape == held_out.tokens.shape == (0, 30)
    assert train.sources == ()
