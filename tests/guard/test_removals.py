"""A question says what would be lost, where nothing would be none is asked, and what goes is kept aside first."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tallystick.errors import JournalError, UsageError
from tallystick.guard.set_aside import find_kept, folder_of, list_kept, restore
from tallystick.model.decision import Effect
from tests.support.working import Work


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        work.write("a.py", "x = 1\n" * 10)
        work.write("b.py", "y = 1\n" * 10)
        work.write(".gitignore", ".env\nout/\n")
        work.write(".env", "DB_PASSWORD=hunter2abc\n")
        git(work, "init", "-q")
        git(work, "add", "-A")
        git(work, "commit", "-qm", "begin")
        work.begin("now")
        yield work


def git(work: Work, *words: str) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    none = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *words], cwd=work.project, check=True, capture_output=True, env={**os.environ, **who, **none}
    )


def dirty(work: Work) -> None:
    """Two changed files and a new one: 4 + 10 + 200 lines."""
    work.write("a.py", "x = 1\n" * 10 + "z = 2\n" * 4)
    work.write("b.py", "w = 3\n" * 10)
    work.write("notes.txt", "line\n" * 200)


CLEAN = [
    "git reset --hard",
    "git reset --hard HEAD",
    "git clean -fd",
    "git clean -f",
    "git checkout .",
    "git checkout -- .",
    "git restore .",
    "git checkout -f",
    "git fetch && git reset --hard && git clean -fd",
    "git -C . reset --hard",
    "git cherry-pick --abort; git reset -q --hard",
]


@pytest.mark.parametrize("command", CLEAN)
def test_where_nothing_would_be_lost_nothing_is_asked(work: Work, command: str) -> None:
    assert work.run(command).effect is Effect.ALLOW


@pytest.mark.parametrize("command", CLEAN)
def test_where_something_would_be_it_is(work: Work, command: str) -> None:
    dirty(work)
    assert work.run(command).effect is Effect.ASK


def test_each_command_is_judged_by_what_it_takes(work: Work) -> None:
    work.write("a.py", "x = 2\n")
    assert work.run("git clean -fd").effect is Effect.ALLOW
    work.write("a.py", "x = 1\n" * 10)
    work.write("src/notes.txt", "mine\n")
    assert work.run("git reset --hard").effect is Effect.ALLOW
    assert work.run("git clean -fd out").effect is Effect.ALLOW
    assert work.run("git clean -fd src").effect is Effect.ASK
    work.wrote("src/made.txt", "by the session\n")
    (work.project / "src" / "notes.txt").unlink()
    assert work.run("git clean -fd src").effect is Effect.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "git reset --hard HEAD~1",
        "git reset --hard origin/main",
        "git clean -fdx",
        "git clean -ffd",
        "git stash pop && git reset --hard",
        "git stash drop",
        "git add -A && git reset --hard",
        "mv ~/notes.txt . && git clean -fd",
        "git -C $WHERE reset --hard",
        "git --work-tree=/srv/x reset --hard",
    ],
)
def test_what_a_clean_tree_does_not_tell_is_asked_about(work: Work, command: str) -> None:
    (work.user / "notes.txt").write_text("mine\n")
    assert work.run(command).effect is Effect.ASK


MOVES = ["git reset --hard origin/main", "git fetch && git reset --hard origin/main", "git reset --hard HEAD~1"]


@pytest.mark.parametrize("command", MOVES)
def test_a_branch_that_moves_is_not_asked_about_where_another_name_has_its_commits(work: Work, command: str) -> None:
    work.write("a.py", "x = 2\n")
    git(work, "commit", "-qam", "more")
    assert work.run(command).effect is Effect.ASK
    git(work, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert work.run(command).effect is Effect.ALLOW
    work.write("a.py", "x = 3\n")
    git(work, "commit", "-qam", "on top")
    assert work.run(command).effect is Effect.ASK
    git(work, "tag", "kept")
    assert work.run(command).effect is Effect.ALLOW
    work.write("a.py", "x = 4\n")
    assert work.run(command).effect is Effect.ASK


@pytest.mark.parametrize(
    "command",
    [
        "git branch -D other; git reset --hard HEAD~1",
        "git tag -d other && git reset --hard HEAD~1",
        "git fetch --prune && git reset --hard HEAD~1",
        "git fetch origin +main:other && git reset --hard HEAD~1",
        "git commit --allow-empty -m x && git reset --hard HEAD~1",
        "git checkout third && git reset --hard HEAD~1",
        "git reset --hard $WHERE",
    ],
)
def test_a_call_that_may_take_the_other_name_away_first_is_asked_about(work: Work, command: str) -> None:
    git(work, "branch", "other")
    assert work.run("git reset --hard HEAD~1").effect is Effect.ALLOW
    assert work.run(command).effect is Effect.ASK


def test_a_file_that_no_commit_has_may_be_in_the_way_of_another_revision(work: Work) -> None:
    git(work, "branch", "other")
    work.write("new.txt", "mine\n")
    assert work.run("git reset --hard").effect is Effect.ALLOW
    assert work.run("git reset --hard other").effect is Effect.ASK


@pytest.mark.parametrize("force", ["checkout -f", "switch -f"])
def test_another_branch_is_forced_without_a_question_where_the_tree_is_clean(work: Work, force: str) -> None:
    git(work, "branch", "other")
    assert work.run(f"git {force} other").effect is Effect.ALLOW
    work.write("a.py", "x = 2\n")
    assert work.run(f"git {force} other").effect is Effect.ASK


@pytest.mark.parametrize(
    ("command", "loses"),
    [
        ("git reset --hard", "2 unsaved files, 14 lines"),
        ("git clean -fd", "1 unsaved file, 200 lines"),
        ("git checkout .", "2 unsaved files, 14 lines"),
        ("git reset --hard && git clean -fd", "3 unsaved files, 214 lines"),
        ("rm notes.txt", "1 unsaved file, 200 lines"),
    ],
)
def test_a_question_says_what_would_be_lost(work: Work, command: str, loses: str) -> None:
    dirty(work)
    asked = work.run(command)
    assert asked.effect is Effect.ASK
    assert f"It would lose {loses};" in asked.reason


def kept(work: Work, command: str) -> str:
    """Have a command asked about, and wait until what it removes is kept."""
    name = work.run(command).kept
    wait_for(lambda: (folder_of(work.home) / name / "kept.json").exists())
    return name


def wait_for(is_so: Callable[[], bool]) -> None:
    for _ in range(1000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


def test_what_is_lost_is_brought_back(work: Work) -> None:
    dirty(work)
    before = {name: (work.project / name).read_bytes() for name in ("a.py", "b.py", "notes.txt")}
    name = kept(work, "git reset --hard && git clean -fd")
    git(work, "reset", "--hard")
    git(work, "clean", "-fd")
    with pytest.raises(UsageError, match="holds something else"):
        restore(work.home, find_kept(work.home, name))
    assert not (work.project / "notes.txt").exists()
    restore(work.home, find_kept(work.home, name), force=True)
    assert {one: (work.project / one).read_bytes() for one in before} == before


def test_copies_are_for_the_user_alone_and_hold_no_secrets(work: Work) -> None:
    key = "AKIA" + "Q7RXJ2MTPL5WZN3B"
    work.write("data/settings.py", f"AWS_ACCESS_KEY_ID = '{key}'\n")
    work.write("data/id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\n")
    work.write("data/.env.production", "TOKEN=abcdefghijkl\n")
    work.write("data/notes.md", "mine\n")
    (work.project / "data" / "link").symlink_to(work.user / ".bashrc")
    name = kept(work, "rm -rf data")
    found = find_kept(work.home, name)
    assert [Path(file.path).name for file in found.copied] == ["notes.md"]
    assert {file.left_out for file in found.files if file.left_out} == {"secret"}
    folder = folder_of(work.home) / name
    for path in (folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert key.encode() not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_the_limit_holds_for_one_call_and_for_all(work: Work) -> None:
    (work.home.folder / "config.toml").write_text("[policy]\nkeep_megabytes = 1\n")
    work.restart()
    last = ""
    for number in range(3):
        work.write(f"big{number}.bin", "x" * 600_000)
        last = kept(work, f"rm big{number}.bin")
    assert [one.id for one in list_kept(work.home)] == [last]
    work.write("huge.bin", "x" * 1_200_000)
    assert find_kept(work.home, kept(work, "rm huge.bin")).files[0].left_out == "too large"


def test_nothing_is_kept_where_that_is_switched_off_or_denied(work: Work) -> None:
    dirty(work)
    assert work.run("rm -rf .").effect is Effect.DENY
    (work.home.folder / "config.toml").write_text("[policy]\nkeep_megabytes = 0\n")
    work.restart()
    asked = work.run("rm notes.txt")
    assert "It would lose 1 unsaved file, 200 lines." in asked.reason
    assert not folder_of(work.home).exists()


def test_what_a_grant_lets_through_is_kept_before_the_answer(work: Work) -> None:
    dirty(work)
    work.call("Bash", {"command": "rm notes.txt"})
    allowed = work.run("rm notes.txt")
    assert allowed.effect is Effect.ALLOW
    assert [Path(file.path).name for file in find_kept(work.home, allowed.kept).copied] == ["notes.txt"]


def test_a_copy_that_was_changed_and_a_place_that_leads_elsewhere_are_left(work: Work) -> None:
    work.write("data/notes.md", "mine\n")
    name = kept(work, "rm -rf data")
    (work.project / "data" / "notes.md").unlink()
    (work.project / "data").rmdir()
    (work.user / "other").mkdir()
    (work.project / "data").symlink_to(work.user / "other")
    with pytest.raises(JournalError, match="leads elsewhere"):
        restore(work.home, find_kept(work.home, name))
    (work.project / "data").unlink()
    (folder_of(work.home) / name / "00000").write_text("other")
    with pytest.raises(JournalError, match="was changed"):
        restore(work.home, find_kept(work.home, name))
