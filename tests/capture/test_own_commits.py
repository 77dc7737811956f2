"""Whether what a file holds is what its user committed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tallystick.capture.own_commits import last_commit


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "config", "user.email", "user@example.org"], check=True)
    return tmp_path


def commit(folder: Path, text: str, author: str = "user@example.org") -> str:
    (folder / "a").mkdir(exist_ok=True)
    (folder / "a" / "CLAUDE.md").write_text(text)
    git = ["git", "-C", str(folder), "-c", "user.name=User", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x", f"--author=Someone <{author}>"], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def test_the_commit_is_the_one_that_changed_the_file(repository: Path) -> None:
    path = str(repository / "a" / "CLAUDE.md")
    assert last_commit(path, b"one") is None, "no commit yet"
    first = commit(repository, "one")
    commit(repository, "one")
    found = last_commit(path, b"one")
    assert found is not None
    assert (found.digest, found.is_own) == (first, True)
    assert last_commit(path, b"another") is None


def test_another_authors_commit_is_not_the_users(repository: Path) -> None:
    commit(repository, "one")
    commit(repository, "two", "other@example.org")
    found = last_commit(str(repository / "a" / "CLAUDE.md"), b"two")
    assert found is not None
    assert not found.is_own


def test_outside_of_a_repository_nothing_is_committed(tmp_path: Path) -> None:
    assert last_commit(str(tmp_path / "CLAUDE.md"), b"one") is None


def test_a_damaged_repository_says_nothing(repository: Path) -> None:
    commit(repository, "one")
    (repository / ".git" / "HEAD").write_bytes(b"\0garbage")
    assert last_commit(str(repository / "a" / "CLAUDE.md"), b"one") is None
