"""Where the repository of a folder stands."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.capture import head
from tallystick.capture.head import GitState, git_state

Git = Callable[..., str]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def git(work: Path, tmp_path: Path) -> Git:
    """`git(*words)` in `work`, which is a repository with one commit."""

    def run(*words: str) -> str:
        names = {f"GIT_{who}_{what}": "dev" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", **names}
        done = subprocess.run(["git", *words], cwd=work, env=environment, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    run("init", "-q", "-b", "main")
    (work / "a.txt").write_text("one\n")
    (work / ".gitignore").write_text("*.log\n")
    run("add", ".")
    run("commit", "-qm", "first")
    return run


def dirty(work: Path) -> str:
    state = git_state(str(work))
    assert state is not None
    assert state.dirty is not None
    return state.dirty


def test_a_clean_tree_has_a_commit_and_a_branch(git: Git, work: Path) -> None:
    wanted = GitState(head=git("rev-parse", "HEAD"), ref="refs/heads/main")
    assert git_state(str(work)) == wanted
    (work / "below").mkdir()
    assert git_state(str(work / "below")) == wanted
    (work / "ignored.log").write_text("noise")
    assert git_state(str(work)) == wanted
    assert wanted.members() == {"head": wanted.head, "ref": "refs/heads/main"}


def test_a_detached_head_names_no_branch_and_a_new_repository_no_commit(git: Git, work: Path) -> None:
    git("checkout", "-q", "--detach")
    state = git_state(str(work))
    assert state is not None
    assert (state.head, state.ref) == (git("rev-parse", "HEAD"), None)
    git("checkout", "-q", "--orphan", "fresh")
    fresh = git_state(str(work))
    assert fresh is not None
    assert (fresh.head, fresh.ref) == (None, "refs/heads/fresh")


def test_the_digest_is_of_what_differs_and_nothing_else(git: Git, work: Path) -> None:
    (work / "a.txt").write_text("two\n")
    changed = dirty(work)
    (work / "new.txt").write_text("new")
    (work / "deep").mkdir()
    (work / "deep" / "x.txt").write_text("x")
    more = dirty(work)
    assert len({changed, more}) == 2
    (work / "deep" / "noise.log").write_text("ignored")
    assert dirty(work) == more
    (work / "deep" / "x.txt").write_text("y")
    assert dirty(work) not in (changed, more)
    (work / "deep" / "x.txt").write_text("x")
    git("add", "a.txt")  # staging changes nothing of what is there
    assert dirty(work) == more
    (work / "new.txt").unlink()
    (work / "deep" / "x.txt").unlink()
    assert dirty(work) == changed
    git("checkout", "-q", "HEAD", "a.txt")
    clean = git_state(str(work))
    assert clean is not None
    assert clean.dirty is None


def test_a_file_that_is_gone_or_can_be_run_now_differs(git: Git, work: Path) -> None:
    (work / "a.txt").unlink()
    gone = dirty(work)
    (work / "a.txt").write_text("one\n")
    (work / "a.txt").chmod(0o755)
    assert dirty(work) != gone


def test_what_is_no_plain_file_is_not_opened(git: Git, work: Path) -> None:
    os.mkfifo(work / "pipe.txt")
    (work / "link.txt").symlink_to("/dev/zero")
    (work / "a.txt").unlink()
    os.mkfifo(work / "a.txt")
    assert len(dirty(work)) == 64


def test_more_than_is_looked_at_is_said_to_be_a_part(git: Git, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "big.txt").write_bytes(b"x" * 2000)
    monkeypatch.setattr(head, "_MOST_BYTES", 1000)
    state = git_state(str(work))
    assert state is not None
    assert state.is_partial
    assert state.members()["partial"] is True
    monkeypatch.setattr(head, "_MOST_ENTRIES", 1)
    of_nothing = git_state(str(work))
    assert of_nothing is not None
    assert (of_nothing.dirty, of_nothing.is_partial) == (None, True)


def test_a_repository_that_is_damaged_or_none_says_nothing(git: Git, work: Path, tmp_path: Path) -> None:
    (work / ".git" / "HEAD").write_bytes(b"\xff\x00 nonsense")
    assert git_state(str(work)) is None
    assert git_state(str(tmp_path)) is None
    assert git_state("/no/such/folder") is None
    assert git_state("a\0b") is None
    assert git_state(".") is None
    assert git_state(str(work / "gone")) is None


def test_nothing_of_a_repository_is_run(git: Git, work: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    git("config", "core.fsmonitor", f"touch {trap}")
    git("config", "filter.evil.clean", f"touch {trap}")
    (work / ".gitattributes").write_text("* filter=evil\n")
    (work / "a.txt").write_text("two\n")
    dirty(work)
    assert not trap.exists()
