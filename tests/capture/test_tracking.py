"""What version control says of files: repositories are made with git itself and read without it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.capture.tracking import repository_of, tracking_of
from tallystick.policy.world import Tracking
from tests.support.laws import examples

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="repositories are made with git")
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ.get("PATH", os.defpath)}
WHO = ("-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *WHO, *arguments], cwd=folder, env=QUIET, check=True, capture_output=True)


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository: `src/a.py` and `src/b.py` are committed, `build/` and `*.log` are ignored."""
    folder = tmp_path.resolve() / "project"
    put(folder / "src/a.py", "a = 1\n")
    put(folder / "src/b.py", "b = 1\n")
    put(folder / "docs/guide.md", "# Guide\n")
    put(folder / ".gitignore", "build/\n*.log\n")
    git(folder, "init", "-q", "--template=", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
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
    git(top, "add", "src/new.py")
    assert said(path) == Tracking(root=str(top), is_tracked=True, changed=(str(path),))


def test_a_commit_is_seen_at_once(top: Path) -> None:
    path = put(top / "src/a.py", "a = 2\n")
    assert not said(path).is_committed
    git(top, "commit", "-q", "-am", "more")
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
    git(inner, "init", "-q", "--template=")
    assert repository_of(str(inner / "x.c")) == str(inner)
    assert repository_of(str(top / "vendor")) == str(top)
    assert repository_of(str(top.parent)) is None


def test_a_linked_working_tree_is_a_repository_of_its_own(top: Path) -> None:
    git(top, "worktree", "add", "-q", "../linked", "-b", "other")
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
    git(top, "add", "big.bin")
    git(top, "commit", "-q", "-m", "big")
    path.write_text("hello")
    assert said(path).is_committed
    path.write_text("hullo")
    assert not said(path).is_committed


def test_a_link_is_compared_as_a_link(top: Path) -> None:
    link = top / "link"
    link.symlink_to("src/a.py")
    git(top, "add", "link")
    git(top, "commit", "-q", "-m", "link")
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
    git(top, "config", setting[0], setting[1].format(mark=mark, folder=top))
    put(top / "src/a.py", "a = 2\n")
    assert not said(top / "src/a.py").is_committed
    assert said(top / "src").changed
    assert not mark.exists()


@pytest.mark.parametrize("extension", ["worktreeConfig", "partialClone", "preciousObjects", "relativeWorktrees"])
def test_extensions_of_the_format_are_no_damage(top: Path, extension: str) -> None:
    git(top, "config", "core.repositoryformatversion", "1")
    git(top, "config", f"extensions.{extension}", "origin" if extension == "partialClone" else "true")
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
