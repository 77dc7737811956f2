"""Files that were written since a moment are found along patterns, and nothing else is looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.capture.grown import Written
from tests.support.cases import each


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a/x.jsonl", "a/b/y.jsonl", "a/b/c/z.jsonl", "a/b/notes.txt", "c-1/u.jsonl", "c-2/u.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (100, 100))
    return tmp_path


def found(folder: Path, *patterns: str, since: float = 0.0) -> set[str]:
    return {str(path.relative_to(folder)) for path, _ in Written(folder).since(patterns, since)}


@each(
    "pattern, names",
    [
        ("a/*.jsonl", {"a/x.jsonl"}),
        ("a/**/*.jsonl", {"a/x.jsonl", "a/b/y.jsonl", "a/b/c/z.jsonl"}),
        ("c-*/u.jsonl", {"c-1/u.jsonl", "c-2/u.jsonl"}),
        ("a/*/*.jsonl", {"a/b/y.jsonl"}),
        ("nowhere/*/*.jsonl", set()),
        ("a/x.jsonl", {"a/x.jsonl"}),
    ],
)
def test_a_pattern_is_as_a_shell_has_it(folder: Path, pattern: str, names: set[str]) -> None:
    assert found(folder, pattern) == names


def test_only_what_was_written_since_is_found(folder: Path) -> None:
    os.utime(folder / "a" / "b" / "y.jsonl", (200, 200))
    assert found(folder, "a/**/*.jsonl", since=150) == {"a/b/y.jsonl"}
    assert found(folder, "a/**/*.jsonl", since=201) == set()


def test_links_are_not_followed_and_pipes_are_no_files(folder: Path) -> None:
    (folder / "a" / "round").symlink_to(folder)
    (folder / "a" / "l.jsonl").symlink_to(folder / "c-1" / "u.jsonl")
    os.mkfifo(folder / "a" / "p.jsonl")
    assert found(folder, "a/**/*.jsonl") == {"a/x.jsonl", "a/b/y.jsonl", "a/b/c/z.jsonl"}


def test_a_folder_nested_without_end_is_left(folder: Path) -> None:
    deep = folder / "a" / Path(*["d"] * 40)
    deep.mkdir(parents=True)
    (deep / "w.jsonl").touch()
    assert "a/" + "d/" * 40 + "w.jsonl" not in found(folder, "a/**/*.jsonl")
