from __future__ import annotations

import gc
import os
import subprocess
from pathlib import Path

import pytest

from tallystick.anchors.git import GitAnchor, default_ref
from tallystick.anchors.kept import AnchorError
from tallystick.seal.keys import SigningKey
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import sign_note
from tests.support.cases import each
from tools.redteam.remotes import push

STORE = "ab" * 16
KEY = SigningKey(b"\x01" * 32)
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def note(size: int, seed: int = 0) -> bytes:
    leaves = [(seed * 1_000_003 + n).to_bytes(32, "big") for n in range(size)]
    return sign_note(STORE, size, merkle_root(leaves), [KEY])


def bare(path: Path, *, guarded: bool) -> Path:
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True, env=ENVIRONMENT)
    for name in ("receive.denyNonFastForwards", "receive.denyDeletes"):
        subprocess.run(["git", "-C", str(path), "config", name, str(guarded).lower()], check=True, env=ENVIRONMENT)
    return path


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare(tmp_path / "remote.git", guarded=True)


def anchor(remote: Path | str) -> GitAnchor:
    return GitAnchor(str(remote), default_ref(STORE), ENVIRONMENT)


def test_heads_are_kept_in_order_with_their_commits(remote: Path) -> None:
    place = anchor(remote)
    assert place.heads() == []
    kept = [place.put(note(size)) for size in (1, 4, 9)]
    assert place.heads() == kept
    assert anchor(remote).heads() == kept


def test_two_who_put_heads_there_do_not_take_away_each_others(remote: Path) -> None:
    one, other = anchor(remote), anchor(remote)
    one.put(note(1))
    other.put(note(2))
    one.put(note(3))
    assert [kept.note for kept in other.heads()] == [note(1), note(2), note(3)]


def test_a_server_that_guards_refs_is_told_from_one_that_does_not(tmp_path: Path, remote: Path) -> None:
    assert anchor(remote).guarded().keeps is True
    found = anchor(bare(tmp_path / "open.git", guarded=False)).guarded()
    assert found.keeps is False
    assert "rewriting and deleting" in found.says
    assert anchor(remote).guarded().keeps is True  # also the second time


def test_what_is_no_head_of_ours_is_passed_over(remote: Path) -> None:
    place = anchor(remote)
    place.put(note(1))
    git = ["git", "-C", str(remote)]
    tree = subprocess.run([*git, "mktree"], input=b"", check=True, capture_output=True, env=ENVIRONMENT).stdout.strip()
    who = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"), "x")
    words = [*git, "commit-tree", tree.decode(), "-p", default_ref(STORE), "-m", "not ours"]
    commit = subprocess.run(words, check=True, capture_output=True, env={**ENVIRONMENT, **who}).stdout.strip()
    subprocess.run([*git, "update-ref", default_ref(STORE), commit.decode()], check=True, env=ENVIRONMENT)
    assert [kept.note for kept in place.heads()] == [note(1)]
    place.put(note(2))
    assert [kept.note for kept in place.heads()] == [note(1), note(2)]


@each("remote", ["ext::sh -c touch% /tmp/x", "--upload-pack=touch /tmp/x", "/nonexistent/repository"])
def test_what_is_no_repository_is_refused_or_cannot_be_reached(remote: str) -> None:
    with pytest.raises(AnchorError):
        anchor(remote).put(note(1))


@pytest.mark.parametrize("ref", ["", "main", "refs/../x", "refs/a b", "refs/a.lock", "refs//a", "-d"])
def test_what_is_no_ref_is_refused(remote: Path, ref: str) -> None:
    with pytest.raises(AnchorError, match="not the name of a ref"):
        GitAnchor(str(remote), ref, ENVIRONMENT)


def test_hooks_of_a_template_do_not_run(tmp_path: Path, remote: Path) -> None:
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    hook = template / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    environment = {**ENVIRONMENT, "GIT_TEMPLATE_DIR": str(template.parent)}
    GitAnchor(str(remote), default_ref(STORE), environment).put(note(1))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("at", ["99999999999999 +0000", "1700000000 +0000"])
def test_a_commit_of_a_time_that_there_is_not_is_read_without_one(remote: Path, at: str) -> None:
    place = anchor(remote)
    place.put(note(1))
    push(remote, default_ref(STORE), note(2), at=at)
    assert [kept.note for kept in place.heads()] == [note(1), note(2)]
    assert (place.heads()[1].at is None) is at.startswith("9")


def test_what_is_too_large_to_be_a_head_is_not_read(remote: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = anchor(remote)
    place.put(note(1))
    push(remote, default_ref(STORE), note(2) + b"\n" * (1 << 20))
    place.put(note(3))
    assert [kept.note for kept in place.heads()] == [note(1), note(3)]
    monkeypatch.setattr("tallystick.anchors.git._MOST_HEADS", 100)
    with pytest.raises(AnchorError, match="more than heads"):
        place.heads()


def test_another_ref_whose_name_ends_so_is_another_one(remote: Path) -> None:
    place = anchor(remote)
    place.put(note(1))
    GitAnchor(str(remote), f"refs/heads/a/{default_ref(STORE)}", ENVIRONMENT).put(note(7))
    place.put(note(2))
    assert [kept.note for kept in place.heads()] == [note(1), note(2)]


def test_nothing_stays_on_this_machine(remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    place = anchor(remote)
    place.put(note(1))
    assert list((tmp_path / "temporary").iterdir())
    del place
    gc.collect()
    assert list((tmp_path / "temporary").iterdir()) == []
    (tmp_path / "temporary").rmdir()
    with pytest.raises(AnchorError, match="cannot make a folder"):
        anchor(remote)
