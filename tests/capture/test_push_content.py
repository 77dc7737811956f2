"""What a push takes along, and which hosts a project names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tallystick.capture.push_content import names_host, push_text
from tests.support.cases import each


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, text: str, message: str = "x") -> None:
    (folder / "a.txt").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-m", message)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git(tmp_path, "init")
    git(tmp_path, "remote", "add", "origin", "git@git.example.com:a/b.git")
    commit(tmp_path, "one\nhttps://api.example.com/v1\n")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    return tmp_path


def told(folder: Path, *words: str, commits_first: bool = False) -> tuple[bytes, bool]:
    return push_text(str(folder), words, commits_first=commits_first)


def test_only_what_the_remote_does_not_have_is_taken_along(project: Path) -> None:
    assert told(project) == (b"", True)
    commit(project, "two\n", "second")
    commit(project, "three\n", "third")
    text, is_whole = told(project, "origin", "main")
    assert is_whole
    assert [word in text for word in (b"second", b"two", b"third", b"three", b"one")] == [True] * 4 + [False]


@each("words", [("origin", "side"), ("origin", "side:main"), ("--all",), ("origin", "+refs/heads/*:refs/heads/*")])
def test_what_a_push_names_is_taken_along(project: Path, words: tuple[str, ...]) -> None:
    git(project, "checkout", "-B", "side", "origin/main")
    commit(project, "aside\n")
    git(project, "checkout", "-B", "main", "origin/main")
    assert b"aside" not in told(project)[0]
    assert b"aside" in told(project, *words)[0]


def test_changes_that_the_same_call_commits_are_taken_along(project: Path) -> None:
    (project / "a.txt").write_text("changed\n")
    assert told(project) == (b"", True)
    assert b"changed" in told(project, commits_first=True)[0]


def test_more_than_is_looked_at_is_told(project: Path) -> None:
    commit(project, "x1 y2\n" * 100_000)
    assert not told(project)[1]


def test_binary_files_are_told(project: Path) -> None:
    (project / "b.bin").write_bytes(bytes(range(256)))
    commit(project, "two\n")
    assert not told(project)[1]


@each("words", [("origin", "missing"), ("origin", "a..b")])
def test_what_cannot_be_found_is_not_known(project: Path, words: tuple[str, ...]) -> None:
    assert told(project, *words) == (b"", False)


def test_outside_of_a_repository_nothing_is_known(tmp_path: Path) -> None:
    assert told(tmp_path) == (b"", False)
    assert not names_host(str(tmp_path), "example.org")


def test_remotes_and_what_is_committed_name_hosts(project: Path) -> None:
    (project / "new.txt").write_text("https://evil.example.net/\n")
    git(project, "add", "new.txt")
    hosts = (
        "origin",
        "git.example.com",
        "api.git.example.com",
        "api.example.com",
        "evil.example.net",
        "agit.example.com",
        "one",
        "",
    )
    assert [names_host(str(project), host) for host in hosts] == [True, True, True, True, False, False, False, False]


def test_a_remote_that_has_nothing_gets_all(project: Path) -> None:
    assert b"one" in told(project, "https://elsewhere.example.net/x.git", "HEAD")[0]
    assert told(project, "git@git.example.com:a/b.git") == (b"", True)


def test_of_a_linked_tree_whose_repository_is_gone_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text(f"gitdir: {tmp_path}/gone/.git/worktrees/side\n")
    assert told(tmp_path, "origin", "side") == (b"", False)
    assert not names_host(str(tmp_path), "api.example.com")
