from __future__ import annotations

import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.capture import workspace
from tallystick.capture.workspace import Effect, Kind, effects, list_files, look
from tests.support.laws import examples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def told(found: list[Effect]) -> dict[str, str]:
    return {effect.path: effect.kind.value for effect in found}


def test_what_was_made_changed_and_removed_is_told_with_digests(folder: Path) -> None:
    (folder / "kept").write_text("kept")
    (folder / "old").write_text("old")
    (folder / "edited").write_text("one")
    before = look(folder)
    (folder / "old").unlink()
    (folder / "edited").write_text("two")
    (folder / "new").write_text("new")
    found, is_cut = effects(folder, before)
    assert told(found) == {"edited": "changed", "new": "created", "old": "deleted"}
    assert not is_cut
    edited = found[0]
    assert edited.before is not None
    assert edited.after is not None
    assert (edited.before.digest, edited.after.digest) == (
        sha256(b"one").hexdigest(),
        sha256(b"two").hexdigest(),
    )


def test_a_file_that_was_only_touched_or_written_with_the_same_is_not_told(folder: Path) -> None:
    (folder / "a").write_text("a")
    (folder / "b").write_text("b")
    before = look(folder)
    os.utime(folder / "a", (1, 1))
    (folder / "b").write_text("b")
    assert effects(folder, before)[0] == []


def test_a_file_that_may_be_run_now_has_changed(folder: Path) -> None:
    (folder / "a").write_text("a")
    before = look(folder)
    (folder / "a").chmod(0o755)
    assert told(effects(folder, before)[0]) == {"a": "changed"}


def test_links_count_by_where_they_lead_and_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("x")
    (folder / "link").symlink_to(tmp_path / "outside")
    before = look(folder)
    (tmp_path / "outside").write_text("y")
    assert effects(folder, before)[0] == []
    (folder / "link").unlink()
    (folder / "link").symlink_to("elsewhere")
    (found,) = effects(folder, before)[0]
    assert found.after is not None
    assert found.after.digest == sha256(b"elsewhere").hexdigest()


def test_pipes_are_no_files(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert look(folder).files == {}


def test_git_says_what_is_ignored(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".gitignore").write_text("out/\n")
    (folder / "out").mkdir()
    (folder / "out" / "x").write_text("x")
    (folder / "sub").mkdir()
    (folder / "sub" / "é\n").write_text("x")
    found = look(folder)
    assert found.by_git
    assert set(found.files) == {".gitignore", "sub/é\n"}
    assert set(look(folder / "sub").files) == {"é\n"}


def test_a_repository_cannot_have_us_run_a_program(folder: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    subprocess.run(["git", "-C", str(folder), "config", "core.fsmonitor", str(trap)], check=True)
    (folder / "a").write_text("a")
    assert set(look(folder).files) == {"a"}
    assert not (tmp_path / "sprung").exists()


def test_without_git_folders_of_tools_are_passed_over(folder: Path) -> None:
    for name in ("node_modules", "__pycache__", "src"):
        (folder / name).mkdir()
        (folder / name / "x").write_text("x")
    found = look(folder)
    assert not found.by_git
    assert set(found.files) == {"src/x"}


def test_a_folder_can_be_left_out(folder: Path) -> None:
    (folder / "store").mkdir()
    (folder / "store" / "ledger").write_text("x")
    (folder / "stored").write_text("x")
    assert list_files(folder, folder / "store") == (["stored"], False)
    assert list_files(folder, folder.parent) == (["store/ledger", "stored"], False)


def test_more_files_than_are_looked_at_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_MOST_FILES", 3)
    for k in range(3):
        (folder / str(k)).write_text("x")
    before = look(folder)
    assert not before.is_cut
    (folder / "3").write_text("x")
    assert effects(folder, before)[1]
    assert look(folder).is_cut


def test_what_there_was_no_time_to_digest_is_compared_by_size_and_time(folder: Path) -> None:
    (folder / "a").write_text("a")
    ticks = iter(range(0, 100, 10))
    before = look(folder, clock=lambda: float(next(ticks)))
    assert before.files["a"].digest is None
    assert effects(folder, before)[0] == []
    (folder / "a").write_text("b")
    (found,) = effects(folder, before)[0]
    assert (found.kind, found.before and found.before.digest) == (Kind.CHANGED, None)


TREES = st.dictionaries(st.sampled_from(["a", "b", "d/a", "d/e/c"]), st.sampled_from([b"", b"x", b"y"]), max_size=4)


@settings(max_examples=examples(80), deadline=None)
@given(before=TREES, after=TREES)
def test_effects_lead_from_one_tree_to_the_other(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("law")
    for path, content in before.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    seen = look(folder)
    for path in before.keys() - after.keys():
        (folder / path).unlink()
    for path, content in after.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    now = {path: sha256(content).hexdigest() for path, content in before.items()}
    for effect in effects(folder, seen)[0]:
        had = now.pop(effect.path, None)
        assert (effect.before.digest if effect.before else None) == had
        if effect.after is not None:
            assert effect.after.digest is not None
            now[effect.path] = effect.after.digest
    assert now == {path: sha256(content).hexdigest() for path, content in after.items()}
