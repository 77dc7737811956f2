"""What version control says of files: repositories are made with git itself and read without it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.capture import tracking
from tallystick.capture.tracking import GitState, content_in, git_state, keeps_commits, repository_of, tracking_of
from tallystick.policy.world import Content, Tracking, Unread
from tests.support.laws import examples

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="repositories are made with git")
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ.get("PATH", os.defpath)}
WHO = ("-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "commit.gpgsign=false")


def run_git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *WHO, *arguments], cwd=folder, env=QUIET, check=True, capture_output=True)


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_name_that_no_file_can_have_is_nothing(tmp_path: Path) -> None:
    assert tracking_of(f"{tmp_path}/{'x' * 300}") == Tracking()


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository: `src/a.py` and `src/b.py` are committed, `build/` and `*.log` are ignored."""
    folder = tmp_path.resolve() / "project"
    put(folder / "src/a.py", "a = 1\n")
    put(folder / "src/b.py", "b = 1\n")
    put(folder / "docs/guide.md", "# Guide\n")
    put(folder / ".gitignore", "build/\n*.log\n")
    run_git(folder, "init", "-q", "--template=", "-b", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "all")
    return folder


def said(path: Path) -> Tracking:
    return tracking_of(str(path))


def test_a_committed_file_is_tracked_and_nothing_of_it_is_lost(top: Path) -> None:
    assert said(top / "src/a.py") == Tracking(root=str(top), is_tracked=True, is_committed=True)


def test_a_changed_file_is_tracked_and_not_committed(top: Path) -> None:
    path = put(top / "src/a.py", "a = 2\n")
    assert said(path) == Tracking(root=str(top), is_tracked=True, changed=(str(path),))


def test_a_change_is_seen_although_the_index_remembers_the_same_times(top: Path) -> None:
    path = top / "src/a.py"
    before = path.stat()
    path.write_text("a = 3\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not said(path).is_committed


def test_what_is_staged_is_tracked_and_not_committed(top: Path) -> None:
    path = put(top / "src/new.py", "n = 1\n")
    run_git(top, "add", "src/new.py")
    assert said(path) == Tracking(root=str(top), is_tracked=True, changed=(str(path),))


def test_a_commit_is_seen_at_once(top: Path) -> None:
    path = put(top / "src/a.py", "a = 2\n")
    assert not said(path).is_committed
    run_git(top, "commit", "-q", "-am", "more")
    assert said(path).is_committed


def test_an_untracked_file_is_lost_and_an_ignored_one_is_not(top: Path) -> None:
    path = put(top / "notes.txt", "mine\n")
    assert said(path) == Tracking(root=str(top), untracked=(str(path),))
    assert said(put(top / "debug.log", "x\n")) == Tracking(root=str(top), is_ignored=True)
    assert said(put(top / "build/out/a.o", "x\n")) == Tracking(root=str(top), is_ignored=True)


def test_a_file_that_is_not_there_cannot_be_lost(top: Path) -> None:
    assert said(top / "none.txt") == Tracking(root=str(top))
    (top / "src/a.py").unlink()
    assert said(top / "src/a.py").changed == ()


def test_a_folder_is_committed_if_all_below_it_is_or_is_ignored(top: Path) -> None:
    put(top / "src/a.log", "x\n")
    assert said(top / "src") == Tracking(root=str(top), is_tracked=True, is_committed=True)


def test_a_folder_tells_what_is_below_it_and_in_no_commit(top: Path) -> None:
    changed, new = put(top / "src/a.py", "a = 2\n"), put(top / "src/deep/er/new.py", "n\n")
    put(top / "src/deep/er/new.log", "n\n")
    put(top / "docs/other.md", "elsewhere\n")
    found = said(top / "src")
    assert found == Tracking(root=str(top), is_tracked=True, changed=(str(changed),), untracked=(str(new),))
    assert said(top / "src/deep").untracked == (str(new),)
    assert said(top / "src/deep/er").untracked == (str(new),)
    assert set(said(top).untracked) == {str(new), str(top / "docs/other.md")}


def test_an_ignored_folder_has_nothing_to_lose(top: Path) -> None:
    put(top / "build/a.txt", "x\n")
    assert said(top / "build") == Tracking(root=str(top), is_ignored=True)


def test_a_folder_with_too_much_to_name_is_named_itself(top: Path) -> None:
    for number in range(200):
        put(top / f"many/{number}.txt", "x\n")
    assert said(top / "many").untracked == (str(top / "many"),)


def test_a_folder_beside_another_with_the_same_beginning_is_not_it(top: Path) -> None:
    put(top / "src2/x.txt", "x\n")
    assert not said(top / "src2").is_tracked
    assert said(top / "src").untracked == ()


def test_outside_of_a_repository_everything_is_untracked(tmp_path: Path) -> None:
    path = put(tmp_path.resolve() / "plain/a.txt", "x\n")
    assert said(path) == Tracking(untracked=(str(path),))
    assert said(path.parent) == Tracking(untracked=(str(path),))
    assert said(path.parent / "none") == Tracking()


def test_the_nearest_repository_counts(top: Path) -> None:
    inner = top / "vendor/lib"
    put(inner / "x.c", "int x;\n")
    run_git(inner, "init", "-q", "--template=")
    assert repository_of(str(inner / "x.c")) == str(inner)
    assert repository_of(str(top / "vendor")) == str(top)
    assert repository_of(str(top.parent)) is None


def test_a_linked_working_tree_is_a_repository_of_its_own(top: Path) -> None:
    run_git(top, "worktree", "add", "-q", "../linked", "-b", "other")
    linked = top.parent / "linked"
    assert said(linked / "src/a.py") == Tracking(root=str(linked), is_tracked=True, is_committed=True)


@pytest.mark.parametrize("content", ["", "gitdir", "no repository\n"])
def test_a_file_called_git_alone_makes_no_repository(tmp_path: Path, content: str) -> None:
    put(tmp_path / "p/.git", content)
    assert repository_of(str((tmp_path / "p").resolve())) is None


def test_line_ends_that_git_converts_are_no_change(top: Path) -> None:
    path = top / "src/a.py"
    path.write_bytes(b"a = 1\r\n")
    assert said(path).is_committed


def test_a_file_that_is_kept_elsewhere_is_compared_with_its_pointer(top: Path) -> None:
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  # of "hello"
    path = put(top / "big.bin", f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 5\n")
    run_git(top, "add", "big.bin")
    run_git(top, "commit", "-q", "-m", "big")
    path.write_text("hello")
    assert said(path).is_committed
    path.write_text("hullo")
    assert not said(path).is_committed


def test_a_link_is_compared_as_a_link(top: Path) -> None:
    link = top / "link"
    link.symlink_to("src/a.py")
    run_git(top, "add", "link")
    run_git(top, "commit", "-q", "-m", "link")
    assert said(link).is_committed
    link.unlink()
    link.symlink_to("src/b.py")
    assert not said(link).is_committed


@pytest.mark.parametrize(
    "setting",
    [("core.fsmonitor", "touch {mark}"), ("core.hooksPath", "{folder}/hooks"), ("core.pager", "touch {mark}"),
     ("filter.evil.clean", "touch {mark}"), ("filter.evil.smudge", "touch {mark}"), ("filter.evil.process", "touch {mark}"),
     ("diff.external", "touch {mark}"), ("core.sshCommand", "touch {mark}"), ("alias.status", "!touch {mark}")],
    ids=lambda setting: setting[0],
)  # fmt: skip
def test_nothing_that_a_repository_names_is_run(top: Path, setting: tuple[str, str]) -> None:
    mark = top.parent / "mark"
    hook = put(top / "hooks/post-index-change", f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    put(top / ".gitattributes", "*.py filter=evil diff=evil\n")
    run_git(top, "config", setting[0], setting[1].format(mark=mark, folder=top))
    put(top / "src/a.py", "a = 2\n")
    assert not said(top / "src/a.py").is_committed
    assert said(top / "src").changed
    assert not mark.exists()


@pytest.mark.parametrize("extension", ["worktreeConfig", "partialClone", "preciousObjects", "relativeWorktrees"])
def test_extensions_of_the_format_are_no_damage(top: Path, extension: str) -> None:
    run_git(top, "config", "core.repositoryformatversion", "1")
    run_git(top, "config", f"extensions.{extension}", "origin" if extension == "partialClone" else "true")
    assert said(top / "src/a.py").is_committed


@pytest.mark.parametrize("broken", ["index", "HEAD", "refs/heads/main"])
def test_what_a_damaged_repository_holds_counts_as_lost(top: Path, broken: str) -> None:
    (top / ".git" / broken).write_bytes(b"\0\xff[broken")
    found = said(top / "src/a.py")
    assert not found.is_committed
    assert found.changed == (str(top / "src/a.py"),)


@pytest.mark.parametrize("name", ["a\0b", "\udcff", "x" * 5000, "src/../..", ""])
def test_no_path_makes_it_fail(top: Path, name: str) -> None:
    tracking_of(f"{top}/{name}")
    repository_of(f"{top}/{name}")


def test_a_file_that_never_ends_is_not_read(top: Path) -> None:
    (top / "src/a.py").unlink()
    os.mkfifo(top / "src/a.py")
    assert not said(top / "src/a.py").is_committed


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_a_file_is_committed_exactly_if_it_holds_what_was_committed(top: Path, data: bytes) -> None:
    (top / "src/b.py").write_bytes(data)
    assert said(top / "src/b.py").is_committed == (data.replace(b"\r\n", b"\n") == b"b = 1\n")


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
    monkeypatch.setattr(tracking, "_MOST_BYTES", 1000)
    state = git_state(str(work))
    assert state is not None
    assert state.is_partial
    assert state.members()["partial"] is True
    monkeypatch.setattr(tracking, "_MOST_COMPARED", 1)
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


def test_a_file_is_read_in_a_revision(top: Path) -> None:
    (top / "docs/link.md").symlink_to("guide.md")
    put(top / "docs/large.md", "x" * (1 << 19))
    run_git(top, "add", "-A")
    run_git(top, "commit", "-q", "-m", "more")
    (top / "docs/guide.md").unlink()
    for name in ("guide.md", "link.md"):
        found = content_in(f"{top}/docs/{name}", "HEAD")
        assert isinstance(found, Content)
        assert found.text == "# Guide\n"
    assert content_in(f"{top}/docs/large.md", "HEAD") is Unread.TOO_LARGE


@pytest.mark.parametrize("revision", ["HEAD~5", "no-such", "", ":/x", "\0"])
def test_a_revision_that_cannot_be_read_has_nothing(top: Path, revision: str) -> None:
    assert content_in(f"{top}/docs/guide.md", revision) is Unread.UNREADABLE
    assert content_in(f"{top}/docs/none.md", "HEAD") is Unread.MISSING
    assert content_in("/nowhere/at/all.md", revision) is Unread.MISSING


# Commits that another name keeps -------------------------------------------------------------------------------------


def test_a_branch_alone_keeps_its_commits_for_no_one_else(top: Path) -> None:
    assert not keeps_commits(str(top))
    run_git(top, "symbolic-ref", "refs/heads/same", "refs/heads/main")
    run_git(top, "update-ref", "refs/stash", "HEAD")
    assert not keeps_commits(str(top / "src"))


@pytest.mark.parametrize("name", ["refs/heads/other", "refs/remotes/origin/main", "refs/tags/v1"])
def test_another_name_keeps_what_it_has_and_nothing_newer(top: Path, name: str) -> None:
    run_git(top, "commit", "-q", "--allow-empty", "-m", "second")
    run_git(top, "update-ref", name, "HEAD")
    assert keeps_commits(str(top))
    run_git(top, "commit", "-q", "--allow-empty", "-m", "third")
    assert not keeps_commits(str(top))
    run_git(top, "reset", "-q", "--hard", "HEAD~2")
    assert keeps_commits(str(top))


def test_a_merge_keeps_both_sides(top: Path) -> None:
    run_git(top, "checkout", "-q", "-b", "side")
    run_git(top, "commit", "-q", "--allow-empty", "-m", "side")
    run_git(top, "checkout", "-q", "main")
    run_git(top, "commit", "-q", "--allow-empty", "-m", "main")
    run_git(top, "checkout", "-q", "-b", "both")
    run_git(top, "merge", "-q", "--no-ff", "-m", "both", "side")
    run_git(top, "checkout", "-q", "main")
    run_git(top, "branch", "-q", "-D", "side")
    assert keeps_commits(str(top))


def test_over_the_bound_they_count_as_lost(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_git(top, "branch", "old")
    for n in range(4):
        run_git(top, "commit", "-q", "--allow-empty", "-m", str(n))
    run_git(top, "branch", "new")
    run_git(top, "reset", "-q", "--hard", "HEAD~3")
    assert keeps_commits(str(top))
    monkeypatch.setattr(tracking, "_MOST_COMMITS", 2)
    assert not keeps_commits(str(top))


def test_what_is_no_repository_keeps_none(tmp_path: Path) -> None:
    assert not keeps_commits(str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert not keeps_commits(str(tmp_path))
